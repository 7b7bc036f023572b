// Random decision trees as ONNX's lists describe them, and their plain walk: by ids, from list to
// list, as the definition says it.
#pragma once

#include <string>

#include "tools/ge_test/random/ml.h"

namespace ge::test {

struct TreeLists {
  Dims tree, id, feature, yes, no, missing;
  std::vector<double> value;
  std::vector<std::string> mode;
  Dims vote_tree, vote_id, vote_choice;
  std::vector<double> weight;
};

struct TreeShape {
  int64_t features = 1, choices = 1;
  double least = -1;      // of the weights
  int64_t only = -1;      // the choice of all votes, -1 = any
  std::string mode = "";  // of all branches, empty = any
  bool full = false;      // each leaf votes for all choices in turn
};

// Adds the nodes of a (sub)tree; answers the id of its root.
inline int64_t GrowTree(CaseMaker& m, const TreeShape& s, int64_t tree, int depth, int64_t* next,
                        TreeLists* t) {
  static const std::vector<std::string> kModes = {"BRANCH_LEQ", "BRANCH_LEQ", "BRANCH_LT",
                                                  "BRANCH_GTE", "BRANCH_GT",  "BRANCH_EQ",
                                                  "BRANCH_NEQ"};
  const int64_t id = (*next)++;
  const size_t at = t->id.size();
  const bool leaf = depth == 0 || m.r.Chance(0.2);
  t->tree.push_back(tree);
  t->id.push_back(id);
  t->feature.push_back(leaf ? 0 : m.r.Int(0, s.features - 1));
  t->value.push_back(leaf ? 0 : Quarter(m) + (m.r.Chance(0.3) ? 0.125 : 0));
  t->mode.push_back(leaf ? "LEAF" : s.mode.empty() ? m.r.Pick(kModes) : s.mode);
  t->missing.push_back(!leaf && m.r.Chance(0.4) ? 1 : 0);
  t->yes.push_back(0);
  t->no.push_back(0);
  if (!leaf) {
    t->yes[at] = GrowTree(m, s, tree, depth - 1, next, t);
    t->no[at] = GrowTree(m, s, tree, depth - 1, next, t);
    return id;
  }
  const int64_t votes = s.full ? s.choices : m.r.Chance(0.1) ? 0 : m.r.Int(1, 2);
  for (int64_t k = 0; k < votes; ++k) {
    t->vote_tree.push_back(tree);
    t->vote_id.push_back(id);
    const int64_t choice = s.only >= 0 ? s.only : m.r.Int(0, s.choices - 1);
    t->vote_choice.push_back(s.full ? k : choice);
    t->weight.push_back(static_cast<float>(m.r.Between(s.least, 1)));
  }
  return id;
}

inline void SetTreeLists(CaseMaker& m, const TreeLists& t, const std::string& votes) {
  m.Set("nodes_treeids", t.tree);
  m.Set("nodes_nodeids", t.id);
  m.Set("nodes_featureids", t.feature);
  m.Set("nodes_modes", t.mode);
  m.Set("nodes_truenodeids", t.yes);
  m.Set("nodes_falsenodeids", t.no);
  if (m.r.Chance(0.5)) m.Set("nodes_missing_value_tracks_true", t.missing);
  const auto count = static_cast<int64_t>(t.value.size());
  if (m.r.Chance(0.2)) {
    m.SetTensor("nodes_values_as_tensor", m.Floats(DType::kDouble, {count}, t.value));
  } else {
    m.Set("nodes_values", t.value);
  }
  m.Set((votes + "_treeids").c_str(), t.vote_tree);
  m.Set((votes + "_nodeids").c_str(), t.vote_id);
  m.Set((votes + "_ids").c_str(), t.vote_choice);
  const auto voters = static_cast<int64_t>(t.weight.size());
  if (m.r.Chance(0.2)) {
    m.SetTensor((votes + "_weights_as_tensor").c_str(),
                m.Floats(DType::kDouble, {voters}, t.weight));
  } else {
    m.Set((votes + "_weights").c_str(), t.weight);
  }
}

// A few trees over the features of input 0, which is added too.
inline TreeLists AddTrees(CaseMaker& m, TreeShape s, const std::string& votes) {
  s.features = m.r.Int(1, 4);
  AddFeatureRows(m, s.features, m.r.Chance(0.5));
  if (m.r.Chance(0.5)) {
    s.mode = m.r.Pick(std::vector<std::string>{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT"});
  }
  s.full = s.only < 0 && m.r.Chance(0.3);
  TreeLists t;
  const int64_t first = m.r.Int(0, 3);
  for (int64_t tree = 0, n = m.r.Int(1, 4); tree < n; ++tree) {
    int64_t next = 0;
    GrowTree(m, s, first + tree, static_cast<int>(m.r.Int(0, 4)), &next, &t);
  }
  SetTreeLists(m, t, votes);
  return t;
}

inline std::vector<double> RealsOf(const RandomCase& c, const std::string& name) {
  std::vector<double> v = FloatsOr(c, name);
  if (const HostTensor* t = TensorAttrOf(c, name + "_as_tensor")) {
    for (int64_t i = 0; i < t->count(); ++i) v.push_back(ElementAsDouble(*t, i));
  }
  return v;
}

inline bool PlainBranch(const std::string& mode, double v, double with) {
  if (mode == "BRANCH_LEQ") return v <= with;
  if (mode == "BRANCH_LT") return v < with;
  if (mode == "BRANCH_GTE") return v >= with;
  if (mode == "BRANCH_GT") return v > with;
  return (v == with) == (mode == "BRANCH_EQ");
}

// The weights that the trees give to each choice for a row.
inline std::vector<std::vector<double>> PlainVotes(const RandomCase& c, const std::string& kind,
                                                   int64_t row, int64_t choices) {
  const HostTensor& x = *c.inputs[0].tensor;
  const Dims tree = IntsOr(c, "nodes_treeids", {}), id = IntsOr(c, "nodes_nodeids", {});
  const Dims feature = IntsOr(c, "nodes_featureids", {}), yes = IntsOr(c, "nodes_truenodeids", {});
  const Dims no = IntsOr(c, "nodes_falsenodeids", {});
  const Dims missing = IntsOr(c, "nodes_missing_value_tracks_true", Dims(id.size(), 0));
  const auto& mode = std::get<std::vector<std::string>>(FindAttr(c, "nodes_modes")->value);
  const auto value = RealsOf(c, "nodes_values"), weight = RealsOf(c, kind + "_weights");
  const Dims vote_tree = IntsOr(c, kind + "_treeids", {}),
             vote_id = IntsOr(c, kind + "_nodeids", {});
  const Dims choice = IntsOr(c, kind + "_ids", {});
  std::vector<std::vector<double>> out(static_cast<size_t>(choices));
  for (size_t root = 0; root < id.size(); ++root) {
    if (id[root] != 0) continue;
    size_t at = root;
    while (mode[at] != "LEAF") {
      const double v = ElementAsDouble(x, row * x.dims.back() + feature[at]);
      const bool go = PlainBranch(mode[at], v, value[at]) || (missing[at] != 0 && std::isnan(v));
      const int64_t wanted = go ? yes[at] : no[at];
      for (at = 0; tree[at] != tree[root] || id[at] != wanted;) ++at;
    }
    for (size_t k = 0; k < choice.size(); ++k) {
      if (vote_tree[k] == tree[at] && vote_id[k] == id[at]) {
        out[static_cast<size_t>(choice[k])].push_back(weight[k]);
      }
    }
  }
  return out;
}

}  // namespace ge::test
