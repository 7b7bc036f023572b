#include "plugins/cpu/native/onnx_ml/linear_model.h"

#include <algorithm>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/onnx_ml/learned_step.h"
#include "plugins/cpu/native/price.h"

namespace ge_engines::cpu::native {
namespace {

constexpr int64_t kBlock = 64;  // rows whose sums are made, then looked at

class Lines final : public Loop {
 public:
  Lines(const Simd& simd, std::shared_ptr<const LinearModel> lines)
      : simd_(simd), lines_(std::move(lines)), l_(*lines_), columns_(l_.columns()) {}

  void Run(float* const* p) const override {
    const int64_t blocks = (l_.rows + kBlock - 1) / kBlock;
    ForRange(l_.rows * l_.features > kParallel, blocks, [&](int64_t b) {
      const int64_t first = b * kBlock, rows = std::min(kBlock, l_.rows - first);
      float* const scores = p[0] + first * columns_;
      const float* const x = p[2] + first * l_.features;
      auto* const labels = reinterpret_cast<int64_t*>(p[1]) + first;
      if (columns_ == l_.lines) {
        Sum(x, rows, scores);
        if (!l_.labels.empty()) {
          for (int64_t r = 0; r < rows; ++r) labels[r] = Greatest(scores + r * l_.lines);
        }
        Transform(scores, rows);
      } else {
        float sums[kBlock];
        Sum(x, rows, sums);
        for (int64_t r = 0; r < rows; ++r) labels[r] = l_.labels[sums[r] > 0 ? 1 : 0];
        Pair(sums, rows, scores);
      }
    });
  }

 private:
  void Sum(const float* x, int64_t rows, float* s) const {
    const int64_t k = l_.features, n = l_.lines;
    if (l_.by_line) {
      simd_.dot_rows(x, k, l_.weights.data(), k, s, n, rows, n, k);
    } else {
      simd_.thin_product(x, k, l_.weights.data(), n, s, n, rows, n, k);
    }
    if (l_.offsets.empty()) return;
    const float* const plus = l_.offsets.data();
    for (int64_t r = 0; r < rows; ++r, s += n) {
      for (int64_t j = 0; j < n; ++j) s[j] += plus[j];
    }
  }

  int64_t Greatest(const float* s) const {
    return l_.labels[static_cast<size_t>(std::max_element(s, s + l_.lines) - s)];
  }

  void Transform(float* s, int64_t rows) const {
    const int64_t n = columns_;
    if (l_.labels.empty() && n == 1) return;  // a target alone stays
    switch (l_.transform) {
      case PostTransform::kLogistic:
        return simd_.unary(Fn::kSigmoid, 0, 0, s, s, rows * n);
      case PostTransform::kSoftmax:
        for (int64_t r = 0; r < rows; ++r, s += n) simd_.softmax(s, s, n);
        return;
      default:
        return;
    }
  }

  // The class of a positive sum has it as its score.
  void Pair(const float* sums, int64_t rows, float* s) const {
    const bool sign = l_.transform == PostTransform::kLogistic;
    for (int64_t r = 0; r < rows; ++r) {
      s[2 * r] = sign ? -sums[r] : 1 - sums[r];
      s[2 * r + 1] = sums[r];
    }
    if (sign) simd_.unary(Fn::kSigmoid, 0, 0, s, s, 2 * rows);
  }

  const Simd& simd_;
  const std::shared_ptr<const LinearModel> lines_;
  const LinearModel& l_;
  const int64_t columns_;
};

}  // namespace

// Measured on an EPYC with AVX-512, 2,000 rows, features x lines: 4x3 4.1 ns a row, 20x1 2.5, 200x3
// 17, 64x100 112, by SOFTMAX 12 more and 0.2 a line; what the general prior takes off is in it.
double LinearModelNs(const LinearModel& model) {
  const auto rows = static_cast<double>(model.rows), lines = static_cast<double>(model.lines);
  const auto features = static_cast<double>(model.features);
  const double sums = model.by_line ? lines * (4 + features * 0.06)
                                    : std::max(1.0, lines / 16) * (3 + features * 0.5);
  const bool softmax = model.transform == PostTransform::kSoftmax && model.columns() == model.lines;
  const double transform = softmax ? 20 + lines
                           : model.transform == PostTransform::kLogistic
                               ? static_cast<double>(model.columns())
                               : 0;
  return rows * (sums + lines * (model.labels.empty() ? 0.5 : 1.5) + transform);
}

std::unique_ptr<Loop> LinearModelLoop(const Simd& simd, std::shared_ptr<const LinearModel> lines) {
  return std::make_unique<Lines>(simd, std::move(lines));
}

namespace {

class LinearModelKind final : public KindOf<LinearModelSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    return WorkPrice(unit, parser, machine, {LinearModelNs(*SpecOf(unit).lines) / machine.compute});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const LinearModelSpec& spec = SpecOf(u);
    AddLearned(b, u, "weighted sums", LinearModelLoop(b->simd(), spec.lines), 0, 1);
  }
};

const LinearModelKind kLinearModelKind;
}  // namespace

GE_NATIVE_KINDS(linear_model, &kLinearModelKind)

}  // namespace ge_engines::cpu::native
