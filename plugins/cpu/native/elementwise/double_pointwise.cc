// Pointwise functions of float64.
#include "plugins/units/elementwise/double_pointwise.h"

#include <algorithm>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

// ns an element of one thread, on a 2.8 GHz EPYC.
double DoubleNs(Fn fn, const Machine& machine) {
  switch (fn) {
    case Fn::kExp:
      return ByIsa(machine, 0.25, 0.75, 2.5);
    case Fn::kSigmoid:
    case Fn::kTanh:
    case Fn::kElu:
      return ByIsa(machine, 0.35, 1, 3.2);
    case Fn::kLog:
      return ByIsa(machine, 0.45, 1, 3);
    case Fn::kErf:
      return ByIsa(machine, 0.75, 1.9, 6.2);
    case Fn::kSoftplus:
      return ByIsa(machine, 1.6, 3, 8);
    case Fn::kSin:
    case Fn::kCos:
      return ByIsa(machine, 0.25, 0.55, 1.7);
    case Fn::kSqrt:
    case Fn::kReciprocal:
      return ByIsa(machine, 0.15, 0.35, 0.8);
    default:
      return ByIsa(machine, 0.1, 0.12, 0.2);
  }
}

class DoubleMap final : public Loop {
 public:
  DoubleMap(const Simd& simd, const DoublePointwiseSpec& spec, int64_t n)
      : simd_(simd), spec_(spec), n_(n) {}

  void Run(float* const* p) const override {
    auto* y = reinterpret_cast<double*>(p[0]);
    const auto* x = reinterpret_cast<const double*>(p[1]);
    ForRange(n_ * int64_t{sizeof(double)} > kParallelBytes, CeilDiv(n_, kPiece), [&](int64_t i) {
      const int64_t at = i * kPiece;
      simd_.unary_double(spec_.fn, spec_.a, spec_.b, x + at, y + at, std::min(kPiece, n_ - at));
    });
  }

 private:
  static constexpr int64_t kPiece = 1024;  // numbers: x and result lie in a first cache

  const Simd& simd_;
  DoublePointwiseSpec spec_;
  int64_t n_;
};

class DoublePointwiseKind final : public KindOf<DoublePointwiseSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return LoopPrice(unit, parser, machine, DoubleNs(SpecOf(unit).fn, machine));
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    b->AddPlain(u, "function of float64",
                std::make_unique<DoubleMap>(b->simd(), SpecOf(u), Product(u.dims)),
                {b->GetDense(u.in[0]).place});
  }
};

const DoublePointwiseKind kDoublePointwiseKind;
}  // namespace

GE_NATIVE_KINDS(double_pointwise, &kDoublePointwiseKind)

}  // namespace ge_engines::cpu::native
