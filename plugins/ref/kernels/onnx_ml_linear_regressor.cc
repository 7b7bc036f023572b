#include "plugins/ref/kernels/ml_linear.h"

namespace ref {
namespace {

struct LinearRegressorPlan {
  FeatureRows rows;
  LinearModel lines;
  ScoreTransform transform = ScoreTransform::kNone;
};

ge_rc RunLinearRegressor(const LinearRegressorPlan& p, const Call& c) {
  auto* row = static_cast<double*>(c.workspace());
  double* scores = row + p.rows.features;
  for (int64_t r = 0; r < p.rows.rows; ++r) {
    p.rows.Load(c.in(0), r, row);
    p.lines.Scores(row, p.rows.features, scores);
    TransformTargets(p.transform, scores, p.lines.lines);
    PutScores(c.out(0), r, scores, p.lines.lines);
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareLinearRegressor(const NodeView& n, Why* why) {
  LinearRegressorPlan p;
  const int64_t targets = n.Int("targets");
  if (targets < 1) return why->Say(GE_WHY_ATTRIBUTE, "targets is less than 1"), nullptr;
  if (!NeedPorts(n, 1, 1, why) || !OpenFeatureRows(n, &p.rows, why) ||
      !ReadLinearModel(n, targets, p.rows.features, &p.lines, why) ||
      !ReadScoreTransform(n, &p.transform, why) ||
      !NeedOut(n, 0, GE_F32, {p.rows.rows, targets}, why)) {
    return nullptr;
  }
  const uint64_t workspace = DoublesBytes(p.rows.features + targets);
  auto made = Make([p = std::move(p)](const Call& c) { return RunLinearRegressor(p, c); });
  made->const_align = 1;
  made->workspace = workspace;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(onnx_ml_linear_regressor, "ai.onnx.ml.LinearRegressor", PrepareLinearRegressor)
