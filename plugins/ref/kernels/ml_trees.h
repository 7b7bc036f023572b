// TreeEnsemble: decision trees as one array of nodes, built and checked at Prepare, walked row by
// row at run time. The votes for targets become results here; other operators use the votes
// themselves. Owned by the Prepared; const use by any thread.
#pragma once

#include <cstring>
#include <string>

#include "plugins/ref/kernels/ml_scores.h"

namespace ref {

// The first seven by ONNX's numbers.
enum class Branch : uint8_t { kLeq, kLt, kGte, kGt, kEq, kNeq, kMember, kLeaf };

struct TreeNode {
  double value = 0;  // what the feature is compared with
  int64_t feature = 0;
  // A branch's children; a leaf's votes [yes, no).
  uint32_t yes = 0, no = 0;
  uint32_t set = 0;  // of kMember
  Branch branch = Branch::kLeaf;
  bool missing_yes = false;  // NaN goes to `yes`
};

struct TreeVote {
  int64_t choice = 0;  // target or class
  double weight = 0;
};

struct TreeEnsemble {
  std::vector<TreeNode> nodes;
  std::vector<uint32_t> roots;
  std::vector<TreeVote> votes;
  std::vector<std::vector<double>> sets;  // each sorted

  bool GoesYes(const TreeNode& node, double value) const {
    if (node.missing_yes && std::isnan(value)) return true;
    switch (node.branch) {
      case Branch::kLeq:
        return value <= node.value;
      case Branch::kLt:
        return value < node.value;
      case Branch::kGte:
        return value >= node.value;
      case Branch::kGt:
        return value > node.value;
      case Branch::kEq:
        return value == node.value;
      case Branch::kNeq:
        return value != node.value;
      default:
        return !std::isnan(value) &&
               std::binary_search(sets[node.set].begin(), sets[node.set].end(), value);
    }
  }

  // Ends, since CheckForest has found no way back to a node.
  const TreeNode& LeafOf(uint32_t root, const double* row) const {
    const TreeNode* t = &nodes[root];
    while (t->branch != Branch::kLeaf) {
      t = &nodes[GoesYes(*t, row[t->feature]) ? t->yes : t->no];
    }
    return *t;
  }
};

// How the votes for one target become one number; by ONNX's numbers.
enum class VoteSum : uint8_t { kAverage, kSum, kMin, kMax };

// Fills `scores` and `has`, `choices` entries each, with the trees' votes for this row.
inline void CollectVotes(const TreeEnsemble& forest, VoteSum how, const double* row,
                         int64_t choices, double* scores, bool* has) {
  std::fill_n(scores, choices, 0.0);
  std::fill_n(has, choices, false);
  Spend(static_cast<int64_t>(forest.roots.size()) * 16);
  for (const uint32_t root : forest.roots) {
    const TreeNode& leaf = forest.LeafOf(root, row);
    for (uint32_t i = leaf.yes; i < leaf.no; ++i) {
      const TreeVote& v = forest.votes[i];
      double& to = scores[v.choice];
      if (!has[v.choice]) {
        to = v.weight;
      } else if (how == VoteSum::kMin || how == VoteSum::kMax) {
        to = how == VoteSum::kMin ? std::min(to, v.weight) : std::max(to, v.weight);
      } else {
        to += v.weight;
      }
      has[v.choice] = true;
    }
  }
}

// ---- building -----------------------------------------------------------------------------------

// Checks that every feature exists and no branch leads back to a node above it. Children are nodes.
inline bool CheckForest(const TreeEnsemble& forest, int64_t features, Why* why) {
  for (const TreeNode& t : forest.nodes) {
    if (t.branch == Branch::kLeaf || (t.feature >= 0 && t.feature < features)) continue;
    return why->Say(GE_WHY_ATTRIBUTE, "a node looks at feature %lld, X has %lld",
                    static_cast<long long>(t.feature), static_cast<long long>(features));
  }
  enum : uint8_t { kNew, kOpen, kDone };
  std::vector<uint8_t> state(forest.nodes.size(), kNew);
  std::vector<uint32_t> path;
  for (const uint32_t root : forest.roots) {
    path.push_back(root);
    while (!path.empty()) {
      const uint32_t at = path.back();
      const TreeNode& t = forest.nodes[at];
      const bool again = state[at] != kNew;  // its children are done
      if (again || t.branch == Branch::kLeaf) {
        state[at] = kDone;
        path.pop_back();
        continue;
      }
      state[at] = kOpen;
      for (const uint32_t child : {t.yes, t.no}) {
        if (state[child] == kOpen) {
          return why->Say(GE_WHY_ATTRIBUTE, "the trees have a cycle through node %u of the lists",
                          child);
        }
        if (state[child] == kNew) path.push_back(child);
      }
    }
  }
  return true;
}

// Nodes of TreeEnsembleRegressor and TreeEnsembleClassifier by their two ids.
class TreeIds {
 public:
  bool Read(Ints trees, Ints ids, Why* why) {
    for (size_t i = 0; i < ids.size(); ++i) {
      rows_.push_back({trees[i], ids[i], static_cast<uint32_t>(i)});
    }
    std::sort(rows_.begin(), rows_.end(), Before);
    for (size_t i = 1; i < rows_.size(); ++i) {
      if (Before(rows_[i - 1], rows_[i])) continue;
      return why->Say(GE_WHY_ATTRIBUTE, "tree %lld has two nodes of id %lld",
                      static_cast<long long>(rows_[i].tree), static_cast<long long>(rows_[i].id));
    }
    return true;
  }
  bool Find(int64_t tree, int64_t id, uint32_t* at, Why* why) const {
    const Row wanted{tree, id, 0};
    const auto found = std::lower_bound(rows_.begin(), rows_.end(), wanted, Before);
    if (found == rows_.end() || Before(wanted, *found)) {
      return why->Say(GE_WHY_ATTRIBUTE, "tree %lld has no node of id %lld",
                      static_cast<long long>(tree), static_cast<long long>(id));
    }
    *at = found->at;
    return true;
  }
  // Finds each tree's first listed node that is no child.
  bool Roots(const std::vector<bool>& child, std::vector<uint32_t>* roots, Why* why) const {
    for (size_t begin = 0, end = 0; begin < rows_.size(); begin = end) {
      uint32_t root = UINT32_MAX;
      for (end = begin; end < rows_.size() && rows_[end].tree == rows_[begin].tree; ++end) {
        if (!child[rows_[end].at]) root = std::min(root, rows_[end].at);
      }
      if (root == UINT32_MAX) {
        return why->Say(GE_WHY_ATTRIBUTE, "tree %lld has no root: each node is another's child",
                        static_cast<long long>(rows_[begin].tree));
      }
      roots->push_back(root);
    }
    return true;
  }

 private:
  struct Row {
    int64_t tree, id;
    uint32_t at;
  };
  static bool Before(const Row& left, const Row& right) {
    return left.tree != right.tree ? left.tree < right.tree : left.id < right.id;
  }
  std::vector<Row> rows_;  // sorted
};

inline bool ReadBranch(std::string_view name, Branch* out) {
  static constexpr std::string_view kNames[] = {"BRANCH_LEQ",    "BRANCH_LT", "BRANCH_GTE",
                                                "BRANCH_GT",     "BRANCH_EQ", "BRANCH_NEQ",
                                                "BRANCH_MEMBER", "LEAF"};
  for (uint8_t i = 0; i < 8; ++i) {
    if (name == kNames[i]) return *out = static_cast<Branch>(i), name != "BRANCH_MEMBER";
  }
  return false;
}

// Votes of leaves, those of one leaf together; votes at branches never count.
inline bool ReadListedVotes(const NodeView& n, const std::string& kind, int64_t choices,
                            const TreeIds& ids, TreeEnsemble* forest, Why* why) {
  const Ints trees = n.List(kind + "_treeids"), nodes = n.List(kind + "_nodeids");
  const Ints choice = n.List(kind + "_ids");
  const std::vector<double> weights = RealListOrTensor(n, kind + "_weights");
  const size_t count = choice.size();
  if (trees.size() != count || nodes.size() != count || weights.size() != count) {
    return why->Say(GE_WHY_ATTRIBUTE, "the lists of votes differ in length");
  }
  std::vector<std::pair<uint32_t, uint32_t>> order;  // leaf, vote
  for (size_t i = 0; i < count; ++i) {
    uint32_t at = 0;
    if (!ids.Find(trees[i], nodes[i], &at, why)) return false;
    if (choice[i] < 0 || choice[i] >= choices) {
      return why->Say(GE_WHY_ATTRIBUTE, "a vote is for %lld, wanted 0 to %lld",
                      static_cast<long long>(choice[i]), static_cast<long long>(choices - 1));
    }
    if (forest->nodes[at].branch == Branch::kLeaf) order.emplace_back(at, static_cast<uint32_t>(i));
  }
  std::sort(order.begin(), order.end());
  for (const auto& [at, i] : order) {
    TreeNode& leaf = forest->nodes[at];
    if (leaf.yes == leaf.no) leaf.yes = leaf.no = static_cast<uint32_t>(forest->votes.size());
    forest->votes.push_back({choice[i], weights[i]});
    ++leaf.no;
  }
  return true;
}

// Reads the lists nodes_* and the lists of votes; `kind` begins the latter's names.
inline bool ReadListedTreeEnsemble(const NodeView& n, const std::string& kind, int64_t choices,
                                   int64_t features, TreeEnsemble* forest, Why* why) {
  const Ints trees = n.List("nodes_treeids"), ids = n.List("nodes_nodeids");
  const Ints feature = n.List("nodes_featureids"),
             missing = n.List("nodes_missing_value_tracks_true");
  const Ints yes = n.List("nodes_truenodeids"), no = n.List("nodes_falsenodeids");
  const std::vector<double> values = RealListOrTensor(n, "nodes_values");
  const ge_attr* modes = ge::plugin::FindAttr(n.node(), "nodes_modes", GE_ATTR_STRINGS);
  const size_t count = ids.size();
  if (modes == nullptr || modes->n != count || trees.size() != count || feature.size() != count ||
      yes.size() != count || no.size() != count || values.size() != count ||
      (!missing.empty() && missing.size() != count) || count > INT32_MAX) {
    return why->Say(GE_WHY_ATTRIBUTE, "the lists of nodes differ in length");
  }
  TreeIds known;
  if (!known.Read(trees, ids, why)) return false;
  forest->nodes.resize(count);
  std::vector<bool> child(count, false);
  for (size_t i = 0; i < count; ++i) {
    TreeNode& t = forest->nodes[i];
    if (!ReadBranch(ge::plugin::View(modes->strings[i]), &t.branch)) {
      return why->Say(GE_WHY_ATTRIBUTE, "a mode of nodes_modes is not known");
    }
    if (t.branch == Branch::kLeaf) continue;
    t.value = values[i];
    t.feature = feature[i];
    t.missing_yes = !missing.empty() && missing[i] != 0;
    if (!known.Find(trees[i], yes[i], &t.yes, why) || !known.Find(trees[i], no[i], &t.no, why)) {
      return false;
    }
    child[t.yes] = child[t.no] = true;
  }
  return known.Roots(child, &forest->roots, why) &&
         ReadListedVotes(n, kind, choices, known, forest, why) &&
         CheckForest(*forest, features, why);
}

// ---- votes for targets --------------------------------------------------------------------------

struct TreeEnsemblePlan {
  FeatureRows rows;
  TreeEnsemble forest;
  VoteSum how = VoteSum::kSum;
  ScoreTransform transform = ScoreTransform::kNone;
  std::vector<double> base;  // one for each choice, or none
  int64_t choices = 0;

  // Bytes for a row, its sums and a flag for each choice with votes.
  uint64_t Workspace() const {
    return DoublesBytes(rows.features + std::max<int64_t>(choices, 2)) +
           static_cast<uint64_t>(choices);
  }
};

struct ForestScratch {
  double *row, *sums;
  bool* has;
  ForestScratch(const TreeEnsemblePlan& plan, void* workspace)
      : row(static_cast<double*>(workspace)),
        sums(row + plan.rows.features),
        has(reinterpret_cast<bool*>(sums + std::max<int64_t>(plan.choices, 2))) {}
};

// A target without votes gets its base value.
inline ge_rc RunForestTargets(const TreeEnsemblePlan& plan, const Call& call) {
  const ForestScratch w(plan, call.workspace());
  const Tensor x = call.in(0), y = call.out(0);
  const auto trees = static_cast<double>(std::max<size_t>(plan.forest.roots.size(), 1));
  for (int64_t r = 0; r < plan.rows.rows; ++r) {
    plan.rows.Load(x, r, w.row);
    CollectVotes(plan.forest, plan.how, w.row, plan.choices, w.sums, w.has);
    for (int64_t i = 0; i < plan.choices; ++i) {
      if (plan.how == VoteSum::kAverage) w.sums[i] /= trees;
      if (!plan.base.empty()) w.sums[i] += plan.base[static_cast<size_t>(i)];
    }
    TransformTargets(plan.transform, w.sums, plan.choices);
    VisitFloat(y.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* to = y.as<T>() + r * plan.choices;
      for (int64_t i = 0; i < plan.choices; ++i) Store(to, i, Narrow<T>(w.sums[i]));
    });
  }
  return GE_OK;
}

inline std::unique_ptr<Prepared> MakeForestTargets(TreeEnsemblePlan plan) {
  const uint64_t workspace = plan.Workspace();
  auto made = Make([plan = std::move(plan)](const Call& c) { return RunForestTargets(plan, c); });
  made->const_align = 1;
  made->workspace = workspace;
  return made;
}

}  // namespace ref
