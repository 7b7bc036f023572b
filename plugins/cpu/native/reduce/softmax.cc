#include "plugins/cpu/native/reduce/softmax.h"

#include <algorithm>
#include <cstring>

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/units/reduce/softmax.h"

namespace ge_engines::cpu::native {

namespace {

class SoftmaxRows final : public Loop {
 public:
  SoftmaxRows(const Simd& simd, int64_t outer, int64_t n, int64_t inner)
      : simd_(simd), outer_(outer), n_(n), inner_(inner) {}

  void Run(float* const* p) const override {
    if (inner_ == 1) {
      ForRange(outer_ * n_ > kParallel, outer_,
               [&](int64_t r) { simd_.softmax(p[1] + r * n_, p[0] + r * n_, n_); });
      return;
    }
    const int64_t strips = (inner_ + kSoftmaxColumns - 1) / kSoftmaxColumns;
    ForRange(outer_ * n_ * inner_ > kParallel, outer_ * strips, [&](int64_t t) {
      const int64_t at = t / strips * n_ * inner_ + t % strips * kSoftmaxColumns;
      Strip(p[1] + at, p[0] + at, std::min(kSoftmaxColumns, inner_ - t % strips * kSoftmaxColumns));
    });
  }

 private:
  // m <= kSoftmaxColumns columns at once.
  void Strip(const float* x, float* y, int64_t m) const {
    alignas(64) float top[kSoftmaxColumns], sum[kSoftmaxColumns] = {};
    std::memcpy(top, x, static_cast<size_t>(m) * sizeof(float));
    simd_.reduce_rows(Reduce::kMax, x, n_, inner_, top, m);
    for (int64_t k = 0; k < n_; ++k) {
      simd_.binary(Fn::kSub, x + k * inner_, top, y + k * inner_, m);
      simd_.unary(Fn::kExp, 0, 0, y + k * inner_, y + k * inner_, m);
    }
    simd_.reduce_rows(Reduce::kSum, y, n_, inner_, sum, m);
    simd_.unary(Fn::kReciprocal, 0, 0, sum, sum, m);
    for (int64_t k = 0; k < n_; ++k) {
      simd_.binary(Fn::kMul, y + k * inner_, sum, y + k * inner_, m);
    }
  }

  const Simd& simd_;
  int64_t outer_, n_, inner_;
};

}  // namespace

std::unique_ptr<Loop> SoftmaxLoop(const Simd& simd, int64_t outer, int64_t n, int64_t inner) {
  return std::make_unique<SoftmaxRows>(simd, outer, n, inner);
}

namespace {

class SoftmaxKind final : public KindOf<SoftmaxSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const bool last = SpecOf(unit).axis + 1 == static_cast<int>(unit.dims.size());
    return LoopPrice(unit, parser, machine,
                     last ? ByIsa(machine, 0.52, 1.25, 3.3) : ByIsa(machine, 0.7, 1.5, 3.6));
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const SoftmaxSpec& spec = SpecOf(u);
    const Rep x = b->GetDense(u.in[0]);
    const auto axis = static_cast<size_t>(spec.axis);
    int64_t outer = 1, inner = 1;
    for (size_t i = 0; i < axis; ++i) outer *= u.dims[i];
    for (size_t i = axis + 1; i < u.dims.size(); ++i) inner *= u.dims[i];
    const int64_t n = u.dims[axis];
    const bool leaves = b->Leaves(u.out[0]);
    const Rep y =
        !leaves && b->Dead(x.place, u) ? x : b->NewResult(u.out[0], Layout::Dense(u.dims));
    b->AddStep("softmax " + b->Sizes(u.dims), SoftmaxLoop(b->simd(), outer, n, inner),
               {y.place, x.place});
    b->AddRep(u.out[0], y);
  }
};

const SoftmaxKind kSoftmaxKind;
}  // namespace

GE_NATIVE_KINDS(softmax, &kSoftmaxKind)

}  // namespace ge_engines::cpu::native
