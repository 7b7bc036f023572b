#include "plugins/ref/kernels/ml_linear.h"

namespace ref {
namespace {

struct LinearClassifierPlan {
  FeatureRows rows;
  LinearModel lines;
  ScoreTransform transform = ScoreTransform::kNone;
  std::vector<int64_t> labels;
  bool two = false;  // two classes of one line
};

// One line says by its sign which of two classes it is.
int64_t LinearLabel(const LinearClassifierPlan& p, const double* scores) {
  if (p.lines.lines > 1) {
    return p.labels[static_cast<size_t>(FirstGreatest(scores, p.lines.lines))];
  }
  return p.labels[scores[0] > 0 ? 1 : 0];
}

ge_rc RunLinearClassifier(const LinearClassifierPlan& p, const Call& c) {
  auto* row = static_cast<double*>(c.workspace());
  double* scores = row + p.rows.features;
  auto* labels = c.out(0).as<int64_t>();
  const int64_t columns = p.two ? 2 : p.lines.lines;
  for (int64_t r = 0; r < p.rows.rows; ++r) {
    p.rows.Load(c.in(0), r, row);
    p.lines.Scores(row, p.rows.features, scores);
    labels[r] = LinearLabel(p, scores);
    if (p.two) {
      PairOfScore(p.transform, scores[0], scores);
    } else {
      TransformScores(p.transform, scores, p.lines.lines);
    }
    PutScores(c.out(1), r, scores, columns);
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareLinearClassifier(const NodeView& n, Why* why) {
  LinearClassifierPlan p;
  if (!NeedPorts(n, 1, 1, why) || !OpenFeatureRows(n, &p.rows, why)) return nullptr;
  p.labels = WholeList(n, "classlabels_ints");
  const auto weights = static_cast<int64_t>(RealList(n, "coefficients").size());
  const auto offsets = static_cast<int64_t>(RealList(n, "intercepts").size());
  const auto labels = static_cast<int64_t>(p.labels.size());
  int64_t lines = offsets;
  if (lines == 0) lines = p.rows.features > 0 ? weights / p.rows.features : labels;
  p.two = lines == 1 && labels == 2;
  if (lines < 1 || labels < 2 || (!p.two && labels != lines)) {
    return why->Say(GE_WHY_ATTRIBUTE, "class labels do not fit the coefficients"), nullptr;
  }
  const int64_t columns = p.two ? 2 : lines;
  if (!ReadLinearModel(n, lines, p.rows.features, &p.lines, why) ||
      !ReadScoreTransform(n, &p.transform, why) || !NeedOut(n, 0, GE_I64, {p.rows.rows}, why) ||
      !NeedOut(n, 1, GE_F32, {p.rows.rows, columns}, why)) {
    return nullptr;
  }
  const uint64_t workspace = DoublesBytes(p.rows.features + columns);
  auto made = Make([p = std::move(p)](const Call& c) { return RunLinearClassifier(p, c); });
  made->const_align = 1;
  made->workspace = workspace;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(onnx_ml_linear_classifier, "ai.onnx.ml.LinearClassifier", PrepareLinearClassifier)
