#include "plugins/ref/kernels/ml_trees.h"

namespace ref {
namespace {

struct TreeClassifierPlan : ForestPlan {
  std::vector<int64_t> labels;
  bool one_sided = false;  // all votes are for one and the same of two classes
  bool positive = false;   // no weight is negative
};

// The greatest sum among the classes with votes. What has none does not win with its 0.
int64_t WinningClass(const double* s, const bool* has, int64_t n) {
  int64_t best = -1;
  for (int64_t i = 0; i < n; ++i) {
    if (has[i] && (best < 0 || s[i] > s[best])) best = i;
  }
  return std::max<int64_t>(best, 0);
}

// Two classes of which one alone has votes, those of the second: its sum is a share of 1 when no
// weight is negative, else a score whose sign decides. Answers which class it is.
int64_t OneSidedScores(const TreeClassifierPlan& p, double score, double* s) {
  const bool second = score > (p.positive ? 0.5 : 0.0);
  if (p.transform == ScoreTransform::kProbit) {
    s[0] = s[1] = ProbitScore(score);
  } else if (p.positive) {
    s[0] = 1 - score, s[1] = score;
  } else {
    s[0] = -score, s[1] = score;
    if (p.transform == ScoreTransform::kLogistic) TransformScores(p.transform, s, 2);
  }
  return second ? 1 : 0;
}

int64_t FinishClasses(const TreeClassifierPlan& p, double* s, bool* has) {
  if (p.choices != 2) {
    for (size_t i = 0; i < p.base.size(); ++i) s[i] += p.base[i], has[i] = true;
    const int64_t best = WinningClass(s, has, p.choices);
    TransformScores(p.transform, s, p.choices);
    return best;
  }
  if (!has[1] && p.base.size() < 2) {
    return OneSidedScores(p, s[0] + (p.base.empty() ? 0 : p.base[0]), s);
  }
  for (size_t i = 0; i < p.base.size(); ++i) s[i] += p.base[i];
  const int64_t best = s[1] > s[0] ? 1 : 0;
  TransformScores(p.transform, s, 2);
  return best;
}

ge_rc RunTreeEnsembleClassifier(const TreeClassifierPlan& p, const Call& c) {
  const ForestScratch w(p, c.workspace());
  const Tensor x = c.in(0);
  auto* labels = c.out(0).as<int64_t>();
  const int64_t columns = std::max<int64_t>(p.choices, 2);
  for (int64_t r = 0; r < p.rows.rows; ++r) {
    p.rows.Load(x, r, w.row);
    CollectVotes(p.forest, VoteSum::kSum, w.row, p.choices, w.sums, w.has);
    labels[r] = p.labels[static_cast<size_t>(FinishClasses(p, w.sums, w.has))];
    PutScores(c.out(1), r, w.sums, columns);
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareTreeEnsembleClassifier(const NodeView& n, Why* why) {
  TreeClassifierPlan p;
  p.labels = WholeList(n, "classlabels_int64s");
  p.choices = static_cast<int64_t>(p.labels.size());
  if (p.choices == 0) return why->Say(GE_WHY_ATTRIBUTE, "classlabels_int64s is empty"), nullptr;
  if (!NeedPorts(n, 1, 1, why) || !OpenFeatureRows(n, &p.rows, why) ||
      !ReadScoreTransform(n, &p.transform, why) ||
      !NeedOut(n, 0, GE_I64, {p.rows.rows}, why) ||
      !NeedOut(n, 1, GE_F32, {p.rows.rows, std::max<int64_t>(p.choices, 2)}, why) ||
      !ReadListedForest(n, "class", p.choices, p.rows.features, &p.forest, why)) {
    return nullptr;
  }
  p.base = RealListOrTensor(n, "base_values");
  const auto base = static_cast<int64_t>(p.base.size());
  if (base != 0 && base != p.choices && (base != 1 || p.choices != 2)) {
    return why->Say(GE_WHY_ATTRIBUTE, "base_values are not one for each class"), nullptr;
  }
  const auto& votes = p.forest.votes;
  p.positive = std::all_of(votes.begin(), votes.end(), [](auto& v) { return v.weight >= 0; });
  p.one_sided = p.choices == 2 && std::all_of(votes.begin(), votes.end(), [&](auto& v) {
                  return v.choice == votes[0].choice;
                });
  const uint64_t workspace = p.Workspace();
  auto made = Make([p = std::move(p)](const Call& c) { return RunTreeEnsembleClassifier(p, c); });
  made->const_align = 1;
  made->workspace = workspace;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(onnx_ml_tree_ensemble_classifier, "ai.onnx.ml.TreeEnsembleClassifier", 1,
              PrepareTreeEnsembleClassifier)
