#include "plugins/cpu/native/reduce/instance_normalization.h"

#include <algorithm>
#include <cmath>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/units/reduce/instance_normalization.h"

namespace ge_engines::cpu::native {

namespace {

class InstanceNorm final : public Loop {
 public:
  InstanceNorm(const Simd& simd, int64_t rows, int64_t channels, int64_t n, float eps)
      : simd_(simd), rows_(rows), channels_(channels), n_(n), eps_(eps) {}
  void Run(float* const* p) const override {
    ForRange(rows_ * n_ > kParallel, rows_, [&](int64_t r) {
      const float* x = p[1] + r * n_;
      const auto n = static_cast<float>(n_);
      const float mean = simd_.reduce(Reduce::kSum, x, n_) / n;
      float sum = 0, square = 0;
      simd_.moment_sums(x, mean, n_, &sum, &square);
      const float off = sum / n;  // what rounding left of the mean
      const float variance = std::max(0.0f, square / n - off * off);
      const float scale = p[2][r % channels_] / std::sqrt(variance + eps_);
      const float bias = p[3][r % channels_] - scale * (mean + off);
      simd_.unary(Fn::kLinear, scale, bias, x, p[0] + r * n_, n_);
    });
  }

 private:
  const Simd& simd_;
  const int64_t rows_, channels_, n_;
  const float eps_;
};

}  // namespace

std::unique_ptr<Loop> InstanceNormLoop(const Simd& simd, int64_t rows, int64_t channels, int64_t n,
                                       float eps) {
  return std::make_unique<InstanceNorm>(simd, rows, channels, n, eps);
}

namespace {

class InstanceNormKind final : public KindOf<InstanceNormSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const double n = static_cast<double>(Product(unit.dims));
    const double rows = unit.dims.empty() ? 1 : n / static_cast<double>(unit.dims.back());
    return WorkPrice(unit, parser, machine,
                     {(n * ByIsa(machine, 0.15, 0.2, 0.4) + rows * 2) / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const InstanceNormSpec& spec = SpecOf(u);
    const int64_t rows = u.dims[0] * u.dims[1];
    b->AddPlain(
        u, "instance norm",
        InstanceNormLoop(b->simd(), rows, u.dims[1], Product(u.dims) / rows, spec.eps),
        {b->GetDense(u.in[0]).place, b->GetDense(u.in[1]).place, b->GetDense(u.in[2]).place});
  }
};

const InstanceNormKind kInstanceNormKind;
}  // namespace

GE_NATIVE_KINDS(instance_normalization, &kInstanceNormKind)

}  // namespace ge_engines::cpu::native
