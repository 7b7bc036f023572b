#include "plugins/ref/kernels/ml_trees.h"

namespace ref {
namespace {

struct TreeClassifierPlan : TreeEnsemblePlan {
  std::vector<int64_t> labels;
  int64_t only = -1;      // of two classes the one that all votes are for, -1 = both
  bool positive = false;  // no weight is negative
};

// To what scores are handed out as: half of the votes of a forest are then no more than half,
// however the shares were rounded.
void RoundSums(double* s, int64_t n) {
  for (int64_t i = 0; i < n; ++i) s[i] = static_cast<float>(s[i]);
}

// The greatest sum among the classes with votes. What has none does not win with its 0.
int64_t WinningClass(const double* s, const bool* has, int64_t n) {
  int64_t best = -1;
  for (int64_t i = 0; i < n; ++i) {
    if (has[i] && (best < 0 || s[i] > s[best])) best = i;
  }
  return std::max<int64_t>(best, 0);
}

// Two classes. Where all votes are for one of them, their sum is a share of 1 if no weight is
// negative, else a score whose sign decides; ONNX leaves this open, and ONNX Runtime does it so.
// Answers which class it is.
int64_t FinishTwoClasses(const TreeClassifierPlan& p, double* s) {
  const double least = p.positive ? 0.5 : 0;
  if (p.only == 0) {
    if (!p.base.empty()) s[0] += p.base[0];
    RoundSums(s, 1);
    const double score = s[0];
    PairOfScore(p.transform, score, s);
    if (!p.positive && p.transform != ScoreTransform::kLogistic) {
      s[0] = -score;
      s[1] = score;
      if (p.transform == ScoreTransform::kProbit) TransformScores(p.transform, s, 2);
    }
    return score > least ? 1 : 0;
  }
  const bool both = p.base.size() == 2;
  if (both || p.only < 0) {
    for (size_t i = 0; i < p.base.size(); ++i) s[i] += p.base[i];
  }
  RoundSums(s, 2);
  const bool second = p.only < 0 || both ? s[1] > s[0] : s[1] > least;
  TransformScores(p.transform, s, 2);
  return second ? 1 : 0;
}

// Scores of a row from its sums; answers its label.
int64_t FinishClasses(const TreeClassifierPlan& p, double* s, bool* has) {
  if (p.choices == 2) return p.labels[static_cast<size_t>(FinishTwoClasses(p, s))];
  for (size_t i = 0; i < p.base.size(); ++i) {
    s[i] += p.base[i];
    has[i] = true;
  }
  RoundSums(s, p.choices);
  const int64_t best = WinningClass(s, has, p.choices);
  // A class alone: whether it is that one.
  const int64_t label = p.choices > 1 ? p.labels[static_cast<size_t>(best)] : s[0] > 0 ? 1 : 0;
  TransformTargets(p.transform, s, p.choices);
  return label;
}

ge_rc RunTreeEnsembleClassifier(const TreeClassifierPlan& p, const Call& c) {
  const ForestScratch w(p, c.workspace());
  const Tensor x = c.in(0);
  auto* labels = c.out(0).as<int64_t>();
  for (int64_t r = 0; r < p.rows.rows; ++r) {
    p.rows.Load(x, r, w.row);
    CollectVotes(p.forest, VoteSum::kSum, w.row, p.choices, w.sums, w.has);
    labels[r] = FinishClasses(p, w.sums, w.has);
    PutScores(c.out(1), r, w.sums, p.choices);
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareTreeEnsembleClassifier(const NodeView& n, Why* why) {
  TreeClassifierPlan p;
  p.labels = WholeList(n, "classlabels_int64s");
  p.choices = static_cast<int64_t>(p.labels.size());
  if (p.choices == 0) return why->Say(GE_WHY_ATTRIBUTE, "classlabels_int64s is empty"), nullptr;
  if (!NeedPorts(n, 1, 1, why) || !OpenFeatureRows(n, &p.rows, why) ||
      !ReadScoreTransform(n, &p.transform, why) || !NeedOut(n, 0, GE_I64, {p.rows.rows}, why) ||
      !NeedOut(n, 1, GE_F32, {p.rows.rows, p.choices}, why) ||
      !ReadListedTreeEnsemble(n, "class", p.choices, p.rows.features, &p.forest, why)) {
    return nullptr;
  }
  p.base = RealListOrTensor(n, "base_values");
  const auto base = static_cast<int64_t>(p.base.size());
  if (base != 0 && base != p.choices && (base != 1 || p.choices != 2)) {
    return why->Say(GE_WHY_ATTRIBUTE, "base_values are not one for each class"), nullptr;
  }
  const auto& votes = p.forest.votes;
  p.positive = std::all_of(votes.begin(), votes.end(), [](auto& v) { return v.weight >= 0; });
  const bool alike =
      std::all_of(votes.begin(), votes.end(), [&](auto& v) { return v.choice == votes[0].choice; });
  if (alike && !votes.empty()) p.only = votes[0].choice;
  const uint64_t workspace = p.Workspace();
  auto made = Make([p = std::move(p)](const Call& c) { return RunTreeEnsembleClassifier(p, c); });
  made->const_align = 1;
  made->workspace = workspace;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(onnx_ml_tree_ensemble_classifier, "ai.onnx.ml.TreeEnsembleClassifier",
              PrepareTreeEnsembleClassifier)
