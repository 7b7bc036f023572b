#include "plugins/cpu/native/elementwise/prelu.h"

#include <cstring>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/native/broadcast.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/units/elementwise/prelu.h"

namespace ge_engines::cpu::native {

namespace {

class PRelu final : public Loop {
 public:
  PRelu(const Simd& simd, Broadcast nest) : simd_(simd), broadcast_(std::move(nest)) {}
  void Run(float* const* p) const override {
    broadcast_.ForEach([&](int64_t o, int64_t ox, int64_t oz) {
      const int64_t n = broadcast_.dim.back();
      if (broadcast_.z.back() == 0 || n == 1) {
        return simd_.unary(Fn::kRelu, p[2][oz], 0, p[1] + ox, p[0] + o, n);
      }
      ForRun(p[1] + ox, p[2] + oz, p[0] + o, n, broadcast_.x.back(), broadcast_.z.back(), Choose);
    });
  }

 private:
  // By the sign's bit and without a comparison, which would keep the loop from being vectorised.
  static float Choose(float a, float slope) {
    const float below = a * slope;
    int32_t bits, other;
    std::memcpy(&bits, &a, sizeof(bits));
    std::memcpy(&other, &below, sizeof(other));
    const int32_t negative = bits >> 31;
    bits = (bits & ~negative) | (other & negative);
    std::memcpy(&a, &bits, sizeof(bits));
    return a;
  }

  const Simd& simd_;
  Broadcast broadcast_;
};

}  // namespace

std::unique_ptr<Loop> PReluLoop(const Simd& simd, const Dims& x, const Dims& slope) {
  return std::make_unique<PRelu>(simd, Broadcast(x, x, slope));
}

namespace {

class PReluKind final : public KindOf<PReluSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    return WorkPrice(unit, parser, machine, {n * 0.3 / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    b->AddPlain(u, "prelu", PReluLoop(b->simd(), u.dims, b->parser().dims(u.in[1])),
                {b->GetDense(u.in[0]).place, b->GetDense(u.in[1]).place});
  }
};

const PReluKind kPReluKind;
}  // namespace

GE_NATIVE_KINDS(prelu, &kPReluKind)

}  // namespace ge_engines::cpu::native
