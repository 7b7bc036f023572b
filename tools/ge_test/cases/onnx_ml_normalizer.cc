#include "tools/ge_test/random/ml.h"

namespace ge::test {
namespace {

void NormalizerCase(CaseMaker& m) {
  AddFeatureRows(m, ManyOrFew(m, 5));
  if (m.r.Chance(0.85)) {
    m.Set("norm", m.r.Pick(std::vector<std::string>{"MAX", "L1", "L2"}));
  }
}

bool PlainNormalizer(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims || out->dtype != DType::kFloat) return false;
  const std::string norm = TextOr(c, "norm", "MAX");
  const int64_t features = x.dims.back();
  for (int64_t r = 0; r < RowsOf(x); ++r) {
    std::vector<double> row;
    for (int64_t i = 0; i < features; ++i) row.push_back(ElementAsDouble(x, r * features + i));
    double by = *std::max_element(row.begin(), row.end());
    if (norm != "MAX") {
      by = 0;
      for (const double v : row) by = norm == "L1" ? by + std::fabs(v) : std::hypot(by, v);
    }
    for (int64_t i = 0; i < features; ++i) {
      const double v = row[static_cast<size_t>(i)];
      SetElement(out, r * features + i, by == 0 ? v : v / by);
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(onnx_ml_normalizer) = {"ai.onnx.ml.Normalizer", NormalizerCase, 1e-6,
                                    Error::kOfElement, PlainNormalizer};

}  // namespace ge::test
