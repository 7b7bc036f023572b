#include "tools/ge_test/random/ml.h"

namespace ge::test {
namespace {

void LinearRegressorCase(CaseMaker& m) {
  const int64_t features = ManyOrFew(m, 5), targets = m.r.Chance(0.4) ? 1 : ManyOrFew(m, 4);
  AddFeatureRows(m, features);
  m.c.terms = m.large ? features : 1;
  m.Set("coefficients", FloatList(m, features * targets, -1, 1));
  if (m.r.Chance(0.8)) m.Set("intercepts", FloatList(m, targets, -1, 1));
  if (targets > 1 || m.r.Chance(0.5)) m.Set("targets", targets);
  MaybePostTransform(m);
}

bool PlainLinearRegressor(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const int64_t features = x.dims.back(), targets = IntOr(c, "targets", 1);
  if (out->dims != Dims{RowsOf(x), targets} || out->dtype != DType::kFloat) return false;
  const auto w = FloatsOr(c, "coefficients"), plus = FloatsOr(c, "intercepts");
  for (int64_t r = 0; r < RowsOf(x); ++r) {
    std::vector<double> s;
    for (int64_t k = 0; k < targets; ++k) {
      s.push_back(RowDot(x, r, w, static_cast<size_t>(k * features), features) +
                  (plus.empty() ? 0 : plus[static_cast<size_t>(k)]));
    }
    PlainTargets(TextOr(c, "post_transform", "NONE"), &s);
    for (int64_t k = 0; k < targets; ++k) {
      SetElement(out, r * targets + k, s[static_cast<size_t>(k)]);
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(onnx_ml_linear_regressor) = {"ai.onnx.ml.LinearRegressor", LinearRegressorCase, 1e-6,
                                          Error::kOfTerms, PlainLinearRegressor};

}  // namespace ge::test
