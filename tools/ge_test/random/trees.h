// Random decision trees in ONNX's lists, and their plain walk: by ids, from list to list, as the
// definition says.
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
inline int64_t GrowTree(CaseMaker& maker, const TreeShape& shape, int64_t tree, int depth,
                        int64_t* next, TreeLists* lists) {
  static const std::vector<std::string> kModes = {"BRANCH_LEQ", "BRANCH_LEQ", "BRANCH_LT",
                                                  "BRANCH_GTE", "BRANCH_GT",  "BRANCH_EQ",
                                                  "BRANCH_NEQ"};
  const int64_t id = (*next)++;
  const size_t at = lists->id.size();
  const bool leaf = depth == 0 || maker.r.Chance(0.2);
  lists->tree.push_back(tree);
  lists->id.push_back(id);
  lists->feature.push_back(leaf ? 0 : maker.r.Int(0, shape.features - 1));
  lists->value.push_back(leaf ? 0 : Quarter(maker) + (maker.r.Chance(0.3) ? 0.125 : 0));
  lists->mode.push_back(leaf ? "LEAF" : shape.mode.empty() ? maker.r.Pick(kModes) : shape.mode);
  lists->missing.push_back(!leaf && maker.r.Chance(0.4) ? 1 : 0);
  lists->yes.push_back(0);
  lists->no.push_back(0);
  if (!leaf) {
    lists->yes[at] = GrowTree(maker, shape, tree, depth - 1, next, lists);
    lists->no[at] = GrowTree(maker, shape, tree, depth - 1, next, lists);
    return id;
  }
  const int64_t votes = shape.full ? shape.choices : maker.r.Chance(0.1) ? 0 : maker.r.Int(1, 2);
  for (int64_t k = 0; k < votes; ++k) {
    lists->vote_tree.push_back(tree);
    lists->vote_id.push_back(id);
    const int64_t choice = shape.only >= 0 ? shape.only : maker.r.Int(0, shape.choices - 1);
    lists->vote_choice.push_back(shape.full ? k : choice);
    lists->weight.push_back(static_cast<float>(maker.r.Between(shape.least, 1)));
  }
  return id;
}

inline void SetTreeLists(CaseMaker& maker, const TreeLists& lists, const std::string& votes) {
  maker.Set("nodes_treeids", lists.tree);
  maker.Set("nodes_nodeids", lists.id);
  maker.Set("nodes_featureids", lists.feature);
  maker.Set("nodes_modes", lists.mode);
  maker.Set("nodes_truenodeids", lists.yes);
  maker.Set("nodes_falsenodeids", lists.no);
  if (maker.r.Chance(0.5)) maker.Set("nodes_missing_value_tracks_true", lists.missing);
  const auto count = static_cast<int64_t>(lists.value.size());
  if (maker.r.Chance(0.2)) {
    maker.SetTensor("nodes_values_as_tensor", maker.Floats(DType::kDouble, {count}, lists.value));
  } else {
    maker.Set("nodes_values", lists.value);
  }
  maker.Set((votes + "_treeids").c_str(), lists.vote_tree);
  maker.Set((votes + "_nodeids").c_str(), lists.vote_id);
  maker.Set((votes + "_ids").c_str(), lists.vote_choice);
  const auto voters = static_cast<int64_t>(lists.weight.size());
  if (maker.r.Chance(0.2)) {
    maker.SetTensor((votes + "_weights_as_tensor").c_str(),
                    maker.Floats(DType::kDouble, {voters}, lists.weight));
  } else {
    maker.Set((votes + "_weights").c_str(), lists.weight);
  }
}

// Adds input 0 and a few trees over its features.
inline TreeLists AddTrees(CaseMaker& maker, TreeShape shape, const std::string& votes) {
  shape.features = maker.r.Int(1, 4);
  AddFeatureRows(maker, shape.features, maker.r.Chance(0.5));
  if (maker.r.Chance(0.5)) {
    shape.mode = maker.r.Pick(std::vector<std::string>{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT"});
  }
  shape.full = shape.only < 0 && maker.r.Chance(0.3);
  TreeLists t;
  const int64_t first = maker.r.Int(0, 3);
  for (int64_t tree = 0, n = maker.r.Int(1, 4); tree < n; ++tree) {
    int64_t next = 0;
    GrowTree(maker, shape, first + tree, static_cast<int>(maker.r.Int(0, 4)), &next, &t);
  }
  SetTreeLists(maker, t, votes);
  return t;
}

inline std::vector<double> RealsOf(const RandomCase& sample, const std::string& name) {
  std::vector<double> v = FloatsOr(sample, name);
  if (const HostTensor* t = TensorAttrOf(sample, name + "_as_tensor")) {
    for (int64_t i = 0; i < t->count(); ++i) v.push_back(ElementAsDouble(*t, i));
  }
  return v;
}

inline bool PlainBranch(const std::string& mode, double value, double with) {
  if (mode == "BRANCH_LEQ") return value <= with;
  if (mode == "BRANCH_LT") return value < with;
  if (mode == "BRANCH_GTE") return value >= with;
  if (mode == "BRANCH_GT") return value > with;
  return (value == with) == (mode == "BRANCH_EQ");
}

// The trees' votes for a row: the weight of each choice.
inline std::vector<std::vector<double>> PlainVotes(const RandomCase& sample,
                                                   const std::string& kind, int64_t row,
                                                   int64_t choices) {
  const HostTensor& x = *sample.inputs[0].tensor;
  const Dims tree = IntsOr(sample, "nodes_treeids", {}), id = IntsOr(sample, "nodes_nodeids", {});
  const Dims feature = IntsOr(sample, "nodes_featureids", {}),
             yes = IntsOr(sample, "nodes_truenodeids", {});
  const Dims no = IntsOr(sample, "nodes_falsenodeids", {});
  const Dims missing = IntsOr(sample, "nodes_missing_value_tracks_true", Dims(id.size(), 0));
  const auto& mode = std::get<std::vector<std::string>>(FindAttr(sample, "nodes_modes")->value);
  const auto value = RealsOf(sample, "nodes_values"), weight = RealsOf(sample, kind + "_weights");
  const Dims vote_tree = IntsOr(sample, kind + "_treeids", {}),
             vote_id = IntsOr(sample, kind + "_nodeids", {});
  const Dims choice = IntsOr(sample, kind + "_ids", {});
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
