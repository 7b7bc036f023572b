// IsInf and IsNaN, by the bits of a float.
#include "plugins/units/elementwise/is_inf.h"

#include <algorithm>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

FloatBits BitsOf(const IsInfSpec& spec, int32_t dtype) {
  FloatBits q{};
  q.nan = spec.nan;
  q.size = static_cast<int>(gp::ElementBits(dtype) / 8);
  q.infinity = dtype == GE_F16    ? 0x7c00
               : dtype == GE_BF16 ? 0x7f80
               : dtype == GE_F32  ? 0x7f800000
                                  : 0x7ff0000000000000;
  const uint64_t sign = uint64_t{1} << (8 * q.size - 1);
  q.high = spec.positive ? q.infinity : q.infinity | sign;
  q.low = spec.negative ? q.infinity | sign : q.infinity;
  return q;
}

class AskedBits final : public Loop {
 public:
  AskedBits(const Simd& simd, const IsInfSpec& spec, int32_t dtype, int64_t n)
      : simd_(simd),
        bits_(BitsOf(spec, dtype)),
        never_(!spec.nan && !spec.positive && !spec.negative),
        n_(n) {}

  void Run(float* const* p) const override {
    const auto* x = reinterpret_cast<const char*>(p[1]);
    auto* y = reinterpret_cast<uint8_t*>(p[0]);
    if (never_) {
      std::fill(y, y + n_, uint8_t{0});
      return;
    }
    ForRange(n_ > kParallel, CeilDiv(n_, kPiece), [&](int64_t i) {
      const int64_t at = i * kPiece;
      simd_.ask_floats(bits_, x + at * bits_.size, y + at, std::min(kPiece, n_ - at));
    });
  }

 private:
  static constexpr int64_t kPiece = 8192;  // elements of one job

  const Simd& simd_;
  FloatBits bits_;
  bool never_;
  int64_t n_;
};

class IsInfKind final : public KindOf<IsInfSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    return WorkPrice(unit, parser, machine, {n * ByIsa(machine, 0.06, 0.1, 0.15)});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    b->AddPlain(u, "question",
                std::make_unique<AskedBits>(b->simd(), SpecOf(u), b->parser().dtype(u.in[0]),
                                            Product(u.dims)),
                {b->GetDense(u.in[0]).place});
  }
};

const IsInfKind kIsInfKind;
}  // namespace

GE_NATIVE_KINDS(is_inf, &kIsInfKind)

}  // namespace ge_engines::cpu::native
