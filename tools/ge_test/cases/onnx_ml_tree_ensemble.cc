#include <numeric>

#include "tools/ge_test/random/trees.h"

namespace ge::test {
namespace {

// Inner nodes and leaves of version 5, which stand in lists of their own.
struct EnsembleLists {
  Dims feature, yes, no, yes_leaf, no_leaf, missing, target, roots;
  std::vector<double> split, mode, weight, member;
};

int64_t AddEnsembleLeaf(CaseMaker& m, int64_t targets, EnsembleLists* t) {
  t->target.push_back(m.r.Int(0, targets - 1));
  t->weight.push_back(static_cast<float>(m.r.Between(-1, 1)));
  return static_cast<int64_t>(t->target.size()) - 1;
}

// `most`: the greatest number of a mode, 6 is a set's.
int64_t GrowEnsemble(CaseMaker& m, int64_t features, int64_t targets, int64_t most, int depth,
                     EnsembleLists* t) {
  const size_t at = t->feature.size();
  t->feature.push_back(m.r.Int(0, features - 1));
  t->split.push_back(Quarter(m) + (m.r.Chance(0.3) ? 0.125 : 0));
  t->mode.push_back(static_cast<double>(m.r.Int(0, most)));
  t->missing.push_back(m.r.Int(0, 1));
  if (t->mode.back() == 6) {
    for (int64_t n = m.r.Int(0, 4); n > 0; --n) t->member.push_back(Quarter(m));
    t->member.push_back(std::numeric_limits<double>::quiet_NaN());
  }
  Dims* const child[2] = {&t->yes, &t->no};
  Dims* const leaf[2] = {&t->yes_leaf, &t->no_leaf};
  for (int side = 0; side < 2; ++side) {
    child[side]->push_back(0);
    leaf[side]->push_back(0);
  }
  for (int side = 0; side < 2; ++side) {
    const bool ends = depth == 0 || m.r.Chance(0.3);
    (*leaf[side])[at] = ends ? 1 : 0;
    (*child[side])[at] = ends ? AddEnsembleLeaf(m, targets, t)
                              : GrowEnsemble(m, features, targets, most, depth - 1, t);
  }
  return static_cast<int64_t>(at);
}

void TreeEnsembleCase(CaseMaker& m) {
  m.c.typed = false;  // the lists are of the input's type
  const int64_t features = m.r.Int(1, 4), targets = m.r.Int(1, 3);
  AddFeatureRows(m, features, m.r.Chance(0.5));
  EnsembleLists t;
  const int64_t most = m.r.Chance(0.3) ? 6 : m.r.Chance(0.3) ? 5 : m.r.Int(0, 1);
  for (int64_t n = m.r.Int(1, 4); n > 0; --n) {
    const auto depth = static_cast<int>(m.r.Int(0, 3));
    t.roots.push_back(GrowEnsemble(m, features, targets, most, depth, &t));
  }
  const auto tensor = [&](const char* name, DType dtype, const std::vector<double>& v) {
    m.SetTensor(name, m.Floats(dtype, {static_cast<int64_t>(v.size())}, v));
  };
  m.Set("nodes_featureids", t.feature);
  m.Set("tree_roots", t.roots);
  m.Set("nodes_truenodeids", t.yes);
  m.Set("nodes_falsenodeids", t.no);
  m.Set("nodes_trueleafs", t.yes_leaf);
  m.Set("nodes_falseleafs", t.no_leaf);
  m.Set("leaf_targetids", t.target);
  if (m.r.Chance(0.5)) m.Set("nodes_missing_value_tracks_true", t.missing);
  tensor("nodes_modes", DType::kUint8, t.mode);
  tensor("nodes_splits", m.dtype(), t.split);
  tensor("leaf_weights", m.dtype(), t.weight);
  if (!t.member.empty()) tensor("membership_values", m.dtype(), t.member);
  m.Set("n_targets", targets);
  if (m.r.Chance(0.7)) m.Set("aggregate_function", m.r.Int(0, 3));
  if (m.r.Chance(0.7)) m.Set("post_transform", m.r.Int(0, 4));
}

// Whether the row goes to the true side at node `at`.
bool PlainEnsembleBranch(const RandomCase& c, size_t at, double v) {
  static const char* const kModes[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                       "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
  const Dims missing = IntsOr(c, "nodes_missing_value_tracks_true", {});
  if (!missing.empty() && missing[at] != 0 && std::isnan(v)) return true;
  const HostTensor& modes = *TensorAttrOf(c, "nodes_modes");
  const auto mode = [&](size_t i) { return ElementAsInt(modes, static_cast<int64_t>(i)); };
  if (mode(at) < 6) {
    return PlainBranch(kModes[mode(at)], v,
                       ElementAsDouble(*TensorAttrOf(c, "nodes_splits"), static_cast<int64_t>(at)));
  }
  const HostTensor& members = *TensorAttrOf(c, "membership_values");
  int64_t k = 0;
  for (size_t i = 0; i < at; ++i) {  // sets of the nodes before it
    if (mode(i) != 6) continue;
    while (!std::isnan(ElementAsDouble(members, k))) ++k;
    ++k;
  }
  bool in = false;
  for (; !std::isnan(ElementAsDouble(members, k)); ++k) in |= ElementAsDouble(members, k) == v;
  return in;
}

std::vector<std::vector<double>> PlainEnsembleVotes(const RandomCase& c, int64_t row,
                                                    int64_t targets) {
  const HostTensor& x = *c.inputs[0].tensor;
  const Dims feature = IntsOr(c, "nodes_featureids", {}), target = IntsOr(c, "leaf_targetids", {});
  const Dims side[2] = {IntsOr(c, "nodes_falsenodeids", {}), IntsOr(c, "nodes_truenodeids", {})};
  const Dims leaf[2] = {IntsOr(c, "nodes_falseleafs", {}), IntsOr(c, "nodes_trueleafs", {})};
  std::vector<std::vector<double>> out(static_cast<size_t>(targets));
  for (const int64_t root : IntsOr(c, "tree_roots", {})) {
    auto at = static_cast<size_t>(root);
    for (bool inside = true; inside;) {
      const double v = ElementAsDouble(x, row * x.dims.back() + feature[at]);
      const int go = PlainEnsembleBranch(c, at, v) ? 1 : 0;
      inside = leaf[go][at] == 0;
      at = static_cast<size_t>(side[go][at]);
    }
    out[static_cast<size_t>(target[at])].push_back(
        ElementAsDouble(*TensorAttrOf(c, "leaf_weights"), static_cast<int64_t>(at)));
  }
  return out;
}

bool PlainTreeEnsemble(const RandomCase& c, HostTensor* out) {
  static const char* const kTransforms[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO",
                                            "PROBIT"};
  const HostTensor& x = *c.inputs[0].tensor;
  const int64_t targets = IntOr(c, "n_targets", 1), how = IntOr(c, "aggregate_function", 1);
  if (out->dims != Dims{RowsOf(x), targets} || out->dtype != x.dtype) return false;
  const auto trees = static_cast<double>(IntsOr(c, "tree_roots", {}).size());
  for (int64_t r = 0; r < RowsOf(x); ++r) {
    std::vector<double> s;
    for (const auto& votes : PlainEnsembleVotes(c, r, targets)) {
      const double sum = std::accumulate(votes.begin(), votes.end(), 0.0);
      s.push_back(votes.empty() ? 0
                  : how == 0    ? sum / trees
                  : how == 1    ? sum
                  : how == 2    ? *std::min_element(votes.begin(), votes.end())
                                : *std::max_element(votes.begin(), votes.end()));
    }
    PlainTargets(kTransforms[IntOr(c, "post_transform", 0)], &s);
    for (size_t k = 0; k < s.size(); ++k) {
      SetElement(out, r * targets + static_cast<int64_t>(k), s[k]);
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(onnx_ml_tree_ensemble) = {"ai.onnx.ml.TreeEnsemble", TreeEnsembleCase, 1e-6,
                                       Error::kOfTerms, PlainTreeEnsemble};

}  // namespace ge::test
