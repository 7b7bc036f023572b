#include "tools/ge_test/random/ml.h"

namespace ge::test {
namespace {

void ScalerCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 3);
  m.Add(m.Numbers(m.dtype(), dims, -9, 9));
  for (const char* name : {"offset", "scale"}) {
    if (m.r.Chance(0.15)) continue;
    const int64_t n = m.r.Chance(0.6) && dims.back() > 0 ? dims.back() : 1;
    m.Set(name, FloatList(m, n, -2, 2));
  }
}

bool PlainScaler(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims || out->dtype != DType::kFloat) return false;
  const auto offset = FloatsOr(c, "offset"), scale = FloatsOr(c, "scale");
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const auto f = static_cast<size_t>(at.at.back());
    const double minus = offset.empty() ? 0 : offset[offset.size() == 1 ? 0 : f];
    const double times = scale.empty() ? 1 : scale[scale.size() == 1 ? 0 : f];
    SetElement(out, i, ElementAsDouble(x, i) * times - minus * times);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(onnx_ml_scaler) = {"ai.onnx.ml.Scaler", ScalerCase, 1e-6, Error::kOfTerms,
                                PlainScaler};

}  // namespace ge::test
