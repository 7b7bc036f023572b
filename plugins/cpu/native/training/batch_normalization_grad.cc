#include "plugins/cpu/native/training/batch_normalization_grad.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/cpu/native/training/channel_rows.h"
#include "plugins/units/training/batch_normalization_grad.h"

namespace ge_engines::cpu::native {

namespace {

class BatchNormGrad final : public Loop {
 public:
  BatchNormGrad(const Simd& simd, const Layout& x, float epsilon)
      : simd_(simd), c_(x), epsilon_(static_cast<double>(epsilon)) {}

  void Run(float* const* p) const override {
    ForRange(c_.elements() > kParallel, c_.groups, [&](int64_t g) { One(g, p); });
  }

 private:
  void One(int64_t g, float* const* p) const {
    const float *dy = p[3], *x = p[4], *scale = p[5], *means = p[6], *variance = p[7];
    const int64_t width = c_.Width(g), first = g * c_.lanes;
    float mean[kMostLanes] = {}, a[kMostLanes] = {}, b[kMostLanes] = {}, shift[kMostLanes] = {};
    std::copy(means + first, means + first + c_.Used(g), mean);
    Sums sums;
    c_.ForParts(g, [&](int64_t at, int64_t rows) {
      sums.Add(width, [&](float* sum, float* product) {
        if (c_.lanes == 1) {
          simd_.slope_sums(dy + at, x + at, mean[0], rows, sum, product);
        } else {
          simd_.slope_rows(dy + at, x + at, rows, c_.row, mean, sum, product, width);
        }
      });
    });
    const auto n = static_cast<double>(c_.count());
    for (int64_t k = 0; k < c_.Used(g); ++k) {
      const double spread = static_cast<double>(variance[first + k]) + epsilon_;
      const double inverse = 1 / std::sqrt(spread);
      p[1][first + k] = static_cast<float>(sums.second[k] * inverse);
      p[2][first + k] = static_cast<float>(sums.first[k]);
      const double by = static_cast<double>(scale[first + k]) * inverse;
      const double pull = -by * sums.second[k] / (n * spread);
      a[k] = static_cast<float>(by);
      b[k] = static_cast<float>(pull);
      shift[k] = static_cast<float>(-by * sums.first[k] / n - pull * static_cast<double>(mean[k]));
    }
    c_.ForParts(g, [&](int64_t at, int64_t rows) {
      if (c_.lanes == 1) {
        simd_.blend_row(dy + at, x + at, a[0], b[0], shift[0], p[0] + at, rows);
      } else {
        simd_.blend_rows(dy + at, x + at, rows, c_.row, a, b, shift, p[0] + at, width);
      }
    });
  }

  const Simd& simd_;
  const Channels c_;
  const double epsilon_;
};

}  // namespace

std::unique_ptr<Loop> BatchNormGradLoop(const Simd& simd, const Layout& x, float epsilon) {
  return std::make_unique<BatchNormGrad>(simd, x, epsilon);
}

namespace {

class BatchNormGradKind final : public KindOf<BatchNormGradSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return LoopPrice(unit, parser, machine, ByIsa(machine, 0.4, 0.4, 0.8));
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const BatchNormGradSpec& spec = SpecOf(u);
    Rep x = b->Main(u.in[1]);
    // Where x is plain and what comes back is not, x is the one to be turned.
    if (const Rep dy = b->Main(u.in[0]); x.layout.dense() && HasChannelRows(dy.layout)) {
      x = b->Get(u.in[1], dy.layout);
    }
    if (!HasChannelRows(x.layout)) x = b->GetDense(u.in[1]);
    const Rep dy = b->Get(u.in[0], x.layout), dx = b->NewResult(u.out[0], x.layout);
    std::vector<BufferRef> places = {dx.place};
    b->AddRep(u.out[0], dx);
    for (size_t k = 1; k < 3; ++k) {
      const Rep y = b->NewResult(u.out[k], b->Plain(u.out[k]));
      places.push_back(y.place);
      b->AddRep(u.out[k], y);
    }
    places.insert(places.end(), {dy.place, x.place});
    for (size_t k = 2; k < 5; ++k) places.push_back(b->GetDense(u.in[k]).place);
    b->AddStep("batch norm grad " + b->Sizes(u.dims),
               BatchNormGradLoop(b->simd(), x.layout, spec.eps), std::move(places));
  }
};

const BatchNormGradKind kBatchNormGradKind;
}  // namespace

GE_NATIVE_KINDS(batch_normalization_grad, &kBatchNormGradKind)

}  // namespace ge_engines::cpu::native
