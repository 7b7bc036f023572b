#include "plugins/cpu/native/onnx_ml/normalizer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/cpu/native/row_pieces.h"

namespace ge_engines::cpu::native {

namespace {

class RowNorms final : public Loop {
 public:
  RowNorms(const Simd& simd, const RowNormSpec& s) : simd_(simd), s_(s) {}

  void Run(float* const* p) const override {
    if (s_.n == 0) return;
    ForRows(s_.rows, s_.n, [&](int64_t r) { Row(p[1] + r * s_.n, p[0] + r * s_.n); });
  }

 private:
  void Row(const float* x, float* y) const {
    if (s_.n < kShort) return Exact(x, y);
    const auto norm = static_cast<float>(Norm(x, y));
    if (!InRange(norm)) return Exact(x, y);
    simd_.binary_scalar(Fn::kDiv, x, norm, y, s_.n);
  }

  // y is room.
  double Norm(const float* x, float* y) const {
    switch (s_.norm) {
      case RowNorm::kMax:
        return static_cast<double>(simd_.reduce(Reduce::kMax, x, s_.n));
      case RowNorm::kL1:
        simd_.unary(Fn::kAbs, 0, 0, x, y, s_.n);
        return InPieces(s_.n, [&](int64_t i, int64_t count) {
          return simd_.reduce(Reduce::kSum, y + i, count);
        });
      case RowNorm::kL2:
        return std::sqrt(static_cast<float>(VectorSquares(simd_, x, s_.n)));
    }
    return 0;
  }

  // In doubles, as ref has it.
  void Exact(const float* x, float* y) const {
    double by = -std::numeric_limits<double>::infinity(), sum = 0;
    if (s_.norm == RowNorm::kMax) {
      for (int64_t i = 0; i < s_.n; ++i) by = std::max<double>(by, x[i]);
    } else if (s_.norm == RowNorm::kL1) {
      for (int64_t i = 0; i < s_.n; ++i) sum += std::fabs(x[i]);
      by = sum;
    } else {
      by = std::sqrt(SquaresOf(x, s_.n));
    }
    if (by == 0) by = 1;
    for (int64_t i = 0; i < s_.n; ++i) y[i] = static_cast<float>(x[i] / by);
  }

  const Simd& simd_;
  const RowNormSpec s_;
};

}  // namespace

double RowNormNs(const RowNormSpec& spec) {
  const auto rows = static_cast<double>(spec.rows), n = static_cast<double>(spec.n);
  return rows * (spec.n < kShort ? 6 + 1.1 * n : 15 + 0.2 * n);
}

std::unique_ptr<Loop> RowNormLoop(const Simd& simd, const RowNormSpec& spec) {
  return std::make_unique<RowNorms>(simd, spec);
}

namespace {

class NormalizerKind final : public KindOf<RowNormSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return WorkPrice(unit, parser, machine, {RowNormNs(SpecOf(unit)) / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const RowNormSpec& spec = SpecOf(u);
    b->AddPlain(u, "norms of rows", RowNormLoop(b->simd(), spec), {b->GetDense(u.in[0]).place});
  }
};

const NormalizerKind kNormalizerKind;
}  // namespace

GE_NATIVE_KINDS(normalizer, &kNormalizerKind)

}  // namespace ge_engines::cpu::native
