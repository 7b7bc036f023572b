#include "plugins/ref/kernels/ml_trees.h"

namespace ref {
namespace {

bool ReadVoteSum(const NodeView& n, VoteSum* out, Why* why) {
  static constexpr std::string_view kNames[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const std::string_view name = n.Text("aggregate_function");
  for (uint8_t i = 0; i < 4; ++i) {
    if (name == kNames[i]) return *out = static_cast<VoteSum>(i), true;
  }
  return why->Say(GE_WHY_ATTRIBUTE, "aggregate_function is none of its four names");
}

std::unique_ptr<Prepared> PrepareTreeEnsembleRegressor(const NodeView& n, Why* why) {
  TreeEnsemblePlan p;
  p.choices = n.Int("n_targets", 1);
  if (!NeedPorts(n, 1, 1, why) || !OpenFeatureRows(n, &p.rows, why) ||
      !ReadScoreTransform(n, &p.transform, why) || !ReadVoteSum(n, &p.how, why) ||
      !NeedOut(n, 0, GE_F32, {p.rows.rows, p.choices}, why) ||
      !ReadListedTreeEnsemble(n, "target", p.choices, p.rows.features, &p.forest, why)) {
    return nullptr;
  }
  p.base = RealListOrTensor(n, "base_values");
  if (!p.base.empty() && static_cast<int64_t>(p.base.size()) != p.choices) {
    return why->Say(GE_WHY_ATTRIBUTE, "base_values are not one for each target"), nullptr;
  }
  return MakeForestTargets(std::move(p));
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(onnx_ml_tree_ensemble_regressor, "ai.onnx.ml.TreeEnsembleRegressor",
              PrepareTreeEnsembleRegressor)
