#include "tools/ge_test/random/ml.h"

namespace ge::test {
namespace {

void FeatureVectorizerCase(CaseMaker& m) {
  const bool one = m.r.Chance(0.3);  // row, which may be written as a vector
  const int64_t rows = one ? 1 : m.r.Int(0, 4), inputs = m.r.Int(1, 4);
  Dims sizes;
  for (int64_t i = 0; i < inputs; ++i) {
    const int64_t columns = m.r.Int(1, 4);
    Dims dims = {rows, columns};
    if (one && m.r.Chance(0.5)) dims = {columns};
    m.Add(m.Numbers(m.dtype(), dims, -9, 9));
    sizes.push_back(m.r.Chance(0.7) ? columns : m.r.Int(0, 5));
  }
  if (m.r.Chance(0.85)) m.Set("inputdimensions", sizes);
}

bool PlainFeatureVectorizer(const RandomCase& c, HostTensor* out) {
  Dims begin = {0};
  const Dims sizes = IntsOr(c, "inputdimensions", {});
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    begin.push_back(begin.back() + (sizes.empty() ? c.inputs[i].tensor->dims.back() : sizes[i]));
  }
  const int64_t rows = RowsOf(*c.inputs[0].tensor);
  if (out->dims != Dims{rows, begin.back()} || out->dtype != DType::kFloat) return false;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const HostTensor& x = *c.inputs[i].tensor;
    const int64_t columns = x.dims.back();
    for (int64_t k = 0, n = rows * columns; k < n; ++k) {
      if (k % columns >= begin[i + 1] - begin[i]) continue;
      SetElement(out, k / columns * begin.back() + begin[i] + k % columns, ElementAsDouble(x, k));
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(onnx_ml_feature_vectorizer) = {"ai.onnx.ml.FeatureVectorizer", FeatureVectorizerCase,
                                            0, Error::kOfElement, PlainFeatureVectorizer};

}  // namespace ge::test
