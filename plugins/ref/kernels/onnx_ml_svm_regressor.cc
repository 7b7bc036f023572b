#include "plugins/ref/kernels/ml_vectors.h"

namespace ref {
namespace {

struct SvmRegressorPlan {
  FeatureRows rows;
  SupportVectors support;  // none: the coefficients weigh the features themselves
  std::vector<double> coefficients;
  double rho = 0;
  bool one_class = false;
};

// The one score stays as it is whatever post_transform says, as in ONNX Runtime.
ge_rc RunSvmRegressor(const SvmRegressorPlan& p, const Call& c) {
  auto* row = static_cast<double*>(c.workspace());
  double* values = row + p.rows.features;
  for (int64_t r = 0; r < p.rows.rows; ++r) {
    p.rows.Load(c.in(0), r, row);
    const double* terms = row;
    if (p.support.count > 0) {
      p.support.Values(row, values);
      terms = values;
    }
    Spend(p.rows.features * std::max<int64_t>(p.support.count, 1));
    double sum = p.rho;
    for (size_t i = 0; i < p.coefficients.size(); ++i) sum += p.coefficients[i] * terms[i];
    if (p.one_class) sum = sum > 0 ? 1 : -1;
    PutScores(c.out(0), r, &sum, 1);
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareSvmRegressor(const NodeView& n, Why* why) {
  SvmRegressorPlan p;
  const int64_t count = n.Int("n_supports");
  if (!NeedPorts(n, 1, 1, why) || !OpenFeatureRows(n, &p.rows, why) ||
      !ReadSupportVectors(n, std::max<int64_t>(count, 0), p.rows.features, &p.support, why) ||
      !NeedOut(n, 0, GE_F32, {p.rows.rows, 1}, why)) {
    return nullptr;
  }
  p.coefficients = RealList(n, "coefficients");
  const std::vector<double> rho = RealList(n, "rho");
  const int64_t terms = count > 0 ? count : p.rows.features;
  if (static_cast<int64_t>(p.coefficients.size()) != terms || rho.size() != 1) {
    return why->Say(GE_WHY_ATTRIBUTE, "coefficients or rho do not fit the vectors"), nullptr;
  }
  p.rho = rho[0];
  p.one_class = n.Int("one_class") != 0;
  const uint64_t workspace = DoublesBytes(p.rows.features + p.support.count);
  auto made = Make([p = std::move(p)](const Call& c) { return RunSvmRegressor(p, c); });
  made->const_align = 1;
  made->workspace = workspace;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(onnx_ml_svm_regressor, "ai.onnx.ml.SVMRegressor", PrepareSvmRegressor)
