#include "tools/ge_test/random/ml.h"

namespace ge::test {
namespace {

void BinarizerCase(CaseMaker& m) {
  const Dims dims = m.Shape(0, 3);
  std::vector<double> v;
  for (int64_t i = 0, n = m.Numbers(m.dtype(), dims, 0, 1)->count(); i < n; ++i) {
    v.push_back(Quarter(m));
  }
  m.Add(m.Floats(m.dtype(), dims, v));
  if (m.r.Chance(0.8)) m.Set("threshold", Quarter(m));
}

bool PlainBinarizer(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims || x.dtype != out->dtype) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    SetElement(out, i, ElementAsDouble(x, i) <= FloatOr(c, "threshold", 0) ? 0 : 1);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(onnx_ml_binarizer) = {"ai.onnx.ml.Binarizer", BinarizerCase, 0, Error::kOfElement,
                                   PlainBinarizer};

}  // namespace ge::test
