#include "plugins/ref/kernels/ml_trees.h"

namespace ref {
namespace {

// Sets of the nodes of mode BRANCH_MEMBER in the order of the nodes, each ended by a NaN.
bool ReadMemberSets(const NodeView& n, TreeEnsemble* f, Why* why) {
  const std::vector<double> values = TensorList(n, "membership_values");
  size_t at = 0;
  for (TreeNode& t : f->nodes) {
    if (t.branch != Branch::kMember) continue;
    if (at >= values.size()) {
      return why->Say(GE_WHY_ATTRIBUTE, "membership_values has fewer sets than nodes use");
    }
    std::vector<double> set;
    while (at < values.size() && !std::isnan(values[at])) set.push_back(values[at++]);
    ++at;
    std::sort(set.begin(), set.end());
    t.set = static_cast<uint32_t>(f->sets.size());
    f->sets.push_back(std::move(set));
  }
  return at >= values.size() ||
         why->Say(GE_WHY_ATTRIBUTE, "membership_values has more sets than nodes use");
}

// A child of node i: a node, or a leaf, which stands behind the nodes.
bool ReadEnsembleChild(int64_t id, bool leaf, size_t nodes, size_t leaves, uint32_t* to, Why* why) {
  const size_t count = leaf ? leaves : nodes;
  if (id < 0 || static_cast<uint64_t>(id) >= count) {
    return why->Say(GE_WHY_ATTRIBUTE, "a child is %s %lld, there are %zu", leaf ? "leaf" : "node",
                    static_cast<long long>(id), count);
  }
  *to = static_cast<uint32_t>(leaf ? nodes + static_cast<size_t>(id) : static_cast<size_t>(id));
  return true;
}

bool ReadEnsembleLeaves(const NodeView& n, size_t nodes, int64_t targets, TreeEnsemble* f,
                        Why* why) {
  const Ints target = n.List("leaf_targetids");
  const std::vector<double> weights = TensorList(n, "leaf_weights");
  if (weights.size() != target.size() || target.size() > INT32_MAX - nodes) {
    return why->Say(GE_WHY_ATTRIBUTE, "the lists of leaves differ in length");
  }
  f->nodes.resize(nodes + target.size());
  for (size_t i = 0; i < target.size(); ++i) {
    if (target[i] < 0 || target[i] >= targets) {
      return why->Say(GE_WHY_ATTRIBUTE, "a leaf is for target %lld, wanted 0 to %lld",
                      static_cast<long long>(target[i]), static_cast<long long>(targets - 1));
    }
    TreeNode& leaf = f->nodes[nodes + i];
    leaf.yes = static_cast<uint32_t>(i);
    leaf.no = leaf.yes + 1;
    f->votes.push_back({target[i], weights[i]});
  }
  return true;
}

bool ReadEnsemble(const NodeView& n, int64_t targets, int64_t features, TreeEnsemble* f, Why* why) {
  const Ints feature = n.List("nodes_featureids"),
             missing = n.List("nodes_missing_value_tracks_true");
  const Ints yes = n.List("nodes_truenodeids"), no = n.List("nodes_falsenodeids");
  const Ints yes_leaf = n.List("nodes_trueleafs"), no_leaf = n.List("nodes_falseleafs");
  const std::vector<double> modes = TensorList(n, "nodes_modes");
  const std::vector<double> splits = TensorList(n, "nodes_splits");
  const size_t count = feature.size();
  if (yes.size() != count || no.size() != count || yes_leaf.size() != count ||
      no_leaf.size() != count || modes.size() != count || splits.size() != count ||
      (!missing.empty() && missing.size() != count) || count > INT32_MAX) {
    return why->Say(GE_WHY_ATTRIBUTE, "the lists of nodes differ in length");
  }
  if (!ReadEnsembleLeaves(n, count, targets, f, why)) return false;
  const size_t leaves = f->nodes.size() - count;
  for (size_t i = 0; i < count; ++i) {
    TreeNode& t = f->nodes[i];
    if (!(modes[i] >= 0 && modes[i] <= 6)) {
      return why->Say(GE_WHY_ATTRIBUTE, "a mode of nodes_modes is %g, wanted 0 to 6", modes[i]);
    }
    t.branch = static_cast<Branch>(static_cast<uint8_t>(modes[i]));
    t.value = splits[i];
    t.feature = feature[i];
    t.missing_yes = !missing.empty() && missing[i] != 0;
    if (!ReadEnsembleChild(yes[i], yes_leaf[i] != 0, count, leaves, &t.yes, why) ||
        !ReadEnsembleChild(no[i], no_leaf[i] != 0, count, leaves, &t.no, why)) {
      return false;
    }
  }
  for (const int64_t root : n.List("tree_roots")) {
    uint32_t at = 0;
    if (!ReadEnsembleChild(root, false, count, leaves, &at, why)) return false;
    f->roots.push_back(at);
  }
  return ReadMemberSets(n, f, why) && CheckForest(*f, features, why);
}

std::unique_ptr<Prepared> PrepareTreeEnsemble(const NodeView& n, Why* why) {
  TreeEnsemblePlan p;
  if (!NeedPorts(n, 1, 1, why) || !NeedSameDType(n.in(0), n.out(0), why) ||
      !OpenFeatureRows(n, &p.rows, why)) {
    return nullptr;
  }
  if (!IsFloatDType(n.in(0).dtype)) return NoDType(n.in(0), why), nullptr;
  const TensorType y = n.out(0);
  const int64_t how = n.Int("aggregate_function"), transform = n.Int("post_transform");
  if (y.rank != 2 || y.dims[0] != p.rows.rows || how < 0 || how > 3 || transform < 0 ||
      transform > 4) {
    return why->Say(GE_WHY_ATTRIBUTE, "the output or an attribute is not as stated"), nullptr;
  }
  p.choices = y.dims[1];
  p.how = static_cast<VoteSum>(how);
  p.transform = static_cast<ScoreTransform>(transform);
  if (!ReadEnsemble(n, p.choices, p.rows.features, &p.forest, why)) return nullptr;
  return MakeForestTargets(std::move(p));
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(onnx_ml_tree_ensemble, "ai.onnx.ml.TreeEnsemble", PrepareTreeEnsemble)
