#include "tools/ge_test/random/vectors.h"

namespace ge::test {
namespace {

void SvmRegressorCase(CaseMaker& m) {
  const int64_t features = m.r.Int(1, 4), supports = m.r.Chance(0.2) ? 0 : m.r.Int(1, 6);
  AddFeatureRows(m, features);
  m.Set("coefficients", FloatList(m, supports > 0 ? supports : features, -1, 1));
  m.Set("rho", FloatList(m, 1, -1, 1));
  if (supports > 0) {
    m.Set("n_supports", supports);
    m.Set("support_vectors", FloatList(m, supports * features, -1, 1));
    SetVectorKernel(m);
  }
  if (m.r.Chance(0.3)) m.Set("one_class", int64_t{1});
  if (m.r.Chance(0.3)) m.Set("post_transform", std::string(m.r.Chance(0.5) ? "NONE" : "LOGISTIC"));
}

bool PlainSvmRegressor(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (out->dims != Dims{RowsOf(x), 1} || out->dtype != DType::kFloat) return false;
  const auto w = FloatsOr(c, "coefficients");
  for (int64_t r = 0; r < RowsOf(x); ++r) {
    double sum = FloatsOr(c, "rho")[0];
    if (IntOr(c, "n_supports", 0) == 0) {
      sum += RowDot(x, r, w, 0, x.dims.back());
    } else {
      for (size_t k = 0; k < w.size(); ++k) sum += w[k] * PlainKernel(c, r, k);
    }
    SetElement(out, r, IntOr(c, "one_class", 0) == 0 ? sum : sum > 0 ? 1 : -1);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(onnx_ml_svm_regressor) = {"ai.onnx.ml.SVMRegressor", SvmRegressorCase, 2e-6,
                                       Error::kOfTerms, PlainSvmRegressor};

}  // namespace ge::test
