#include "plugins/ref/kernels/ml_scores.h"

namespace ref {
namespace {

enum class RowNorm : uint8_t { kMax, kL1, kL2 };

// What a row is divided by; 0 leaves it as it is.
double NormOfRow(RowNorm norm, const Tensor& x, const FeatureRows& rows, int64_t row) {
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t i = 0; i < rows.features; ++i) {
    const double v = rows.at(x.data, row * rows.features + i);
    most = std::max(most, v);
    sum += norm == RowNorm::kL1 ? std::fabs(v) : v * v;
  }
  return norm == RowNorm::kMax ? most : norm == RowNorm::kL1 ? sum : std::sqrt(sum);
}

ge_rc RunNormalizer(RowNorm norm, const FeatureRows& rows, const Call& c) {
  const Tensor x = c.in(0);
  float* y = c.out(0).as<float>();
  for (int64_t r = 0; r < rows.rows; ++r) {
    double by = NormOfRow(norm, x, rows, r);
    if (by == 0) by = 1;
    for (int64_t i = 0; i < rows.features; ++i) {
      *y++ = static_cast<float>(rows.at(x.data, r * rows.features + i) / by);
    }
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareNormalizer(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 1, why) || !NeedSameDims(n.in(0), n.out(0), why)) return nullptr;
  FeatureRows rows;
  if (!OpenFeatureRows(n, &rows, why)) return nullptr;
  if (n.out(0).dtype != GE_F32) return NoDType(n.out(0), why), nullptr;
  const std::string_view name = n.Text("norm");
  if (name != "MAX" && name != "L1" && name != "L2") {
    return why->Say(GE_WHY_ATTRIBUTE, "norm is none of MAX, L1 and L2"), nullptr;
  }
  const RowNorm norm = name == "MAX" ? RowNorm::kMax : name == "L1" ? RowNorm::kL1 : RowNorm::kL2;
  auto made = Make([=](const Call& c) { return RunNormalizer(norm, rows, c); });
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(onnx_ml_normalizer, "ai.onnx.ml.Normalizer", PrepareNormalizer)
