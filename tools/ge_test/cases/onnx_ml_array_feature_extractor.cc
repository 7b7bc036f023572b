#include "tools/ge_test/random/ml.h"

namespace ge::test {
namespace {

void ArrayFeatureExtractorCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 3, false);
  m.Add(m.Numbers(m.dtype(), dims, -100, 100));
  m.Add(m.Numbers(DType::kInt64, m.Shape(1, 2), 0, static_cast<double>(dims.back() - 1)));
}

bool PlainArrayFeatureExtractor(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &index = *c.inputs[1].tensor;
  Dims wanted = x.dims;
  if (wanted.size() == 1) wanted.insert(wanted.begin(), 1);
  wanted.back() = index.count();
  if (wanted != out->dims) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    Dims from(at.at.begin() + (x.dims.size() == 1 ? 1 : 0), at.at.end());
    from.back() = ElementAsInt(index, from.back());
    Copy(x, Flat(x.dims, from), out, i);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(onnx_ml_array_feature_extractor) = {"ai.onnx.ml.ArrayFeatureExtractor",
                                                 ArrayFeatureExtractorCase, 0, Error::kOfElement,
                                                 PlainArrayFeatureExtractor};

}  // namespace ge::test
