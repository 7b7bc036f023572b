// LogSoftmax of float32: x less its greatest, then less the logarithm of the sum of exponentials of
// that, so that what is near 0 stays exact.
#include "plugins/units/reduce/log_softmax.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/native/axis_cut.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {

namespace {

// Buffers: result, x. The result may be x.
class LogShares final : public Loop {
 public:
  LogShares(const Simd& simd, const AxisCut& cut) : simd_(simd), cut_(cut) {}

  void Run(float* const* p) const override {
    const bool parallel = cut_.outer * cut_.dim * cut_.inner > kParallel;
    if (cut_.inner == 1) {
      ForRange(parallel, cut_.outer,
               [&](int64_t r) { AlongRow(p[1] + r * cut_.dim, p[0] + r * cut_.dim); });
      return;
    }
    const int64_t strips = CeilDiv(cut_.inner, kSoftmaxColumns);
    ForRange(parallel, cut_.outer * strips, [&](int64_t i) {
      const int64_t first = i % strips * kSoftmaxColumns;
      const int64_t at = i / strips * cut_.dim * cut_.inner + first;
      AlongColumns(p[1] + at, p[0] + at, std::min(kSoftmaxColumns, cut_.inner - first));
    });
  }

 private:
  static constexpr int64_t kPiece = 512;    // exponentials that lie in a first cache
  static constexpr int64_t kTogether = 16;  // rows of them that are added up in float32

  void AlongRow(const float* x, float* y) const {
    alignas(64) float room[kPiece];
    const float top = simd_.reduce(Reduce::kMax, x, cut_.dim);
    double sum = 0;
    for (int64_t k = 0; k < cut_.dim; k += kPiece) {
      const int64_t n = std::min(kPiece, cut_.dim - k);
      simd_.binary_scalar(Fn::kSub, x + k, top, y + k, n);
      simd_.unary(Fn::kExp, 0, 0, y + k, room, n);
      sum += static_cast<double>(simd_.reduce(Reduce::kSum, room, n));
    }
    simd_.binary_scalar(Fn::kSub, y, static_cast<float>(std::log(sum)), y, cut_.dim);
  }

  // n <= kSoftmaxColumns columns.
  void AlongColumns(const float* x, float* y, int64_t n) const {
    alignas(64) float top[kSoftmaxColumns], room[kSoftmaxColumns], part[kSoftmaxColumns];
    double sum[kSoftmaxColumns] = {};
    const int64_t step = cut_.inner;
    std::memcpy(top, x, static_cast<size_t>(n) * sizeof(float));
    simd_.reduce_rows(Reduce::kMax, x, cut_.dim, step, top, n);
    for (int64_t k = 0; k < cut_.dim; k += kTogether) {
      std::fill(part, part + n, 0.0f);
      for (int64_t r = k; r < std::min(cut_.dim, k + kTogether); ++r) {
        simd_.binary(Fn::kSub, x + r * step, top, y + r * step, n);
        simd_.unary(Fn::kExp, 0, 0, y + r * step, room, n);
        simd_.binary(Fn::kAdd, part, room, part, n);
      }
      for (int64_t j = 0; j < n; ++j) sum[j] += static_cast<double>(part[j]);
    }
    for (int64_t j = 0; j < n; ++j) part[j] = static_cast<float>(std::log(sum[j]));
    for (int64_t r = 0; r < cut_.dim; ++r) {
      simd_.binary(Fn::kSub, y + r * step, part, y + r * step, n);
    }
  }

  const Simd& simd_;
  AxisCut cut_;
};

class LogSoftmaxKind final : public KindOf<LogSoftmaxSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    const AxisCut cut(unit.dims, SpecOf(unit).axis);
    const auto n = static_cast<double>(Product(unit.dims));
    const double ends = static_cast<double>(cut.outer * cut.inner) * 12;  // logarithms
    const double each =
        cut.inner == 1 ? ByIsa(machine, 0.5, 1.1, 3.2) : ByIsa(machine, 0.65, 1.3, 3.4);
    return WorkPrice(unit, parser, machine, {(n * each + ends) / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    b->AddPlain(u, "log softmax",
                std::make_unique<LogShares>(b->simd(), AxisCut(u.dims, SpecOf(u).axis)),
                {b->GetDense(u.in[0]).place});
  }
};

const LogSoftmaxKind kLogSoftmaxKind;
}  // namespace

GE_NATIVE_KINDS(log_softmax, &kLogSoftmaxKind)

}  // namespace ge_engines::cpu::native
