#include "plugins/units/onnx_ml/tree_ensemble.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

constexpr uint32_t kNoNode = UINT32_MAX;

constexpr uint8_t kLeafMode = 7;

// A node as it is listed; the positions of its children, or which leaf it is.
struct Listed {
  uint8_t mode = kLeafMode;
  bool missing_yes = false;
  float value = 0;
  int64_t feature = 0;
  uint32_t yes = kNoNode, no = kNoNode;
};

struct Lists {
  std::vector<Listed> nodes;
  std::vector<uint32_t> roots;
  std::vector<std::vector<Vote>> votes;  // by node
};

// Trees in one array, those of one tree together.
class Flattening {
 public:
  // With `shared` several nodes may have one leaf as their child.
  Flattening(const Lists& lists, bool shared, TreeEnsemble* f)
      : l_(lists), f_(*f), shared_(shared), seen_(lists.nodes.size(), false) {}

  bool Do(Why* why) {
    f_.first = {0};
    double steps = 0, leaves = 0;
    for (const uint32_t root : l_.roots) {
      const uint32_t at = Room(1);
      f_.roots.push_back(at);
      f_.levels.push_back(0);
      todo_.push_back({root, at, 0});
      while (!todo_.empty()) {
        const Open open = todo_.back();
        todo_.pop_back();
        const bool leaf = l_.nodes[open.listed].mode == kLeafMode;
        if (seen_[open.listed] && !(leaf && shared_)) {
          return why->Say(GE_WHY_ATTRIBUTE, "a node has two parents");
        }
        seen_[open.listed] = true;
        if (leaf) {
          steps += open.depth;
          ++leaves;
        }
        f_.levels.back() = std::max(f_.levels.back(), open.depth);
        leaf ? PutLeaf(open) : PutBranch(open);
      }
    }
    f_.depth = leaves == 0 ? 0 : steps / leaves;
    return true;
  }

 private:
  struct Open {
    uint32_t listed, at, depth;
  };
  uint32_t Room(size_t n) {
    const auto at = static_cast<uint32_t>(f_.nodes.size());
    f_.nodes.resize(at + n);
    f_.leaf.resize(at + n, 0);
    return at;
  }
  void PutLeaf(const Open& o) {
    f_.nodes[o.at].next = o.at;
    f_.leaf[o.at] = static_cast<uint32_t>(f_.first.size() - 1);
    const std::vector<Vote>& votes = l_.votes[o.listed];
    f_.votes.insert(f_.votes.end(), votes.begin(), votes.end());
    f_.first.push_back(static_cast<uint32_t>(f_.votes.size()));
  }
  void PutBranch(const Open& o) {
    const Listed& from = l_.nodes[o.listed];
    const uint32_t next = Room(2);
    const auto how = static_cast<Branch>(from.mode);
    f_.nodes[o.at] = {from.value,      static_cast<uint32_t>(from.feature), next, 1, how,
                      from.missing_yes};
    f_.how = branches_++ == 0 || f_.how == how ? how : Branch::kMixed;
    f_.missing = f_.missing || from.missing_yes;
    todo_.push_back({from.no, next + 1, o.depth + 1});
    todo_.push_back({from.yes, next, o.depth + 1});
  }

  const Lists& l_;
  TreeEnsemble& f_;
  const bool shared_;
  std::vector<bool> seen_;
  std::vector<Open> todo_;
  size_t branches_ = 0;
};

// Positions of nodes by their two ids.
class ById {
 public:
  ById(gp::Span<int64_t> trees, gp::Span<int64_t> ids) : trees_(trees), ids_(ids) {
    order_.resize(ids.size());
    std::iota(order_.begin(), order_.end(), 0u);
    const auto before = [&](uint32_t a, uint32_t b) { return Key(a) < Key(b); };
    if (!std::is_sorted(order_.begin(), order_.end(), before)) {
      std::sort(order_.begin(), order_.end(), before);
    }
    for (size_t i = 1; i < order_.size(); ++i) twice_ |= Key(order_[i - 1]) == Key(order_[i]);
  }
  bool twice() const { return twice_; }
  const std::vector<uint32_t>& order() const { return order_; }
  uint32_t Find(int64_t tree, int64_t id) const {
    const auto wanted = std::pair(tree, id);
    const auto at = std::lower_bound(order_.begin(), order_.end(), wanted,
                                     [&](uint32_t i, const auto& w) { return Key(i) < w; });
    return at == order_.end() || Key(*at) != wanted ? kNoNode : *at;
  }

 private:
  std::pair<int64_t, int64_t> Key(uint32_t i) const { return {trees_[i], ids_[i]}; }
  gp::Span<int64_t> trees_, ids_;
  std::vector<uint32_t> order_;
  bool twice_ = false;
};

bool ModeOf(std::string_view name, uint8_t* mode) {
  static constexpr std::string_view kNames[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                                "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
  const auto* at = std::find(std::begin(kNames), std::end(kNames), name);
  *mode = at == std::end(kNames) ? kLeafMode : static_cast<uint8_t>(at - std::begin(kNames));
  return *mode != kLeafMode || name == "LEAF";
}

// Each tree's first listed node that is no child.
bool FindRoots(const ById& ids, gp::Span<int64_t> trees, const std::vector<bool>& child,
               std::vector<uint32_t>* roots) {
  const std::vector<uint32_t>& order = ids.order();
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    uint32_t root = kNoNode;
    for (end = begin; end < order.size() && trees[order[end]] == trees[order[begin]]; ++end) {
      if (!child[order[end]]) root = std::min(root, order[end]);
    }
    if (root == kNoNode) return false;
    roots->push_back(root);
  }
  return true;
}

bool ReadVotes(const ge_node& n, const std::string& kind, int64_t choices, const ById& ids,
               Lists* l, Why* why) {
  const auto trees = gp::AttrInts(n, kind + "_treeids"), nodes = gp::AttrInts(n, kind + "_nodeids");
  const auto choice = gp::AttrInts(n, kind + "_ids");
  const auto weights = gp::AttrFloats(n, kind + "_weights");
  const size_t count = choice.size();
  if (trees.size() != count || nodes.size() != count || weights.size() != count)
    return ListsDiffer(why);
  l->votes.resize(l->nodes.size());
  for (size_t i = 0; i < count; ++i) {
    const uint32_t at = ids.Find(trees[i], nodes[i]);
    if (at == kNoNode || choice[i] < 0 || choice[i] >= choices) return ListsDiffer(why);
    if (l->nodes[at].mode != kLeafMode) continue;  // votes at branches never count
    l->votes[at].push_back({static_cast<uint32_t>(choice[i]), weights[i]});
  }
  return true;
}

bool ReadListed(const ge_node& n, const std::string& kind, int64_t choices, int64_t features,
                Lists* l, Why* why) {
  if (gp::FindAttr(n, "nodes_values_as_tensor", GE_ATTR_TENSOR) != nullptr ||
      gp::FindAttr(n, kind + "_weights_as_tensor", GE_ATTR_TENSOR) != nullptr ||
      gp::FindAttr(n, "base_values_as_tensor", GE_ATTR_TENSOR) != nullptr) {
    return why->Say(GE_WHY_ATTRIBUTE, "values of other types than float32");
  }
  const auto trees = gp::AttrInts(n, "nodes_treeids"), names = gp::AttrInts(n, "nodes_nodeids");
  const auto feature = gp::AttrInts(n, "nodes_featureids");
  const auto missing = gp::AttrInts(n, "nodes_missing_value_tracks_true");
  const auto yes = gp::AttrInts(n, "nodes_truenodeids"), no = gp::AttrInts(n, "nodes_falsenodeids");
  const auto values = gp::AttrFloats(n, "nodes_values");
  const ge_attr* modes = gp::FindAttr(n, "nodes_modes", GE_ATTR_STRINGS);
  const size_t count = names.size();
  if (modes == nullptr || modes->n != count || trees.size() != count || feature.size() != count ||
      yes.size() != count || no.size() != count || values.size() != count || count > INT32_MAX ||
      (missing.size() != 0 && missing.size() != count)) {
    return ListsDiffer(why);
  }
  const ById ids(trees, names);
  if (ids.twice()) return ListsDiffer(why);
  l->nodes.resize(count);
  std::vector<bool> child(count, false);
  for (size_t i = 0; i < count; ++i) {
    Listed& t = l->nodes[i];
    if (!ModeOf(gp::View(modes->strings[i]), &t.mode)) return ListsDiffer(why);
    if (t.mode == kLeafMode) continue;
    t.feature = feature[i];
    t.value = static_cast<float>(values[i]);
    t.missing_yes = missing.size() != 0 && missing[i] != 0;
    t.yes = ids.Find(trees[i], yes[i]);
    t.no = ids.Find(trees[i], no[i]);
    if (t.yes == kNoNode || t.no == kNoNode || t.feature < 0 || t.feature >= features) {
      return ListsDiffer(why);
    }
    child[t.yes] = child[t.no] = true;
  }
  return (FindRoots(ids, trees, child, &l->roots) || ListsDiffer(why)) &&
         ReadVotes(n, kind, choices, ids, l, why);
}

// Where each leaf has a vote for each choice in turn, sums need the weights alone.
void FillFull(TreeEnsemble* f) {
  const size_t choices = static_cast<size_t>(f->choices);
  if (f->sum == VoteSum::kMin || f->sum == VoteSum::kMax) return;
  if (f->votes.empty() || f->votes.size() != (f->first.size() - 1) * choices) return;
  for (size_t i = 0; i < f->votes.size(); ++i) {
    if (f->votes[i].choice != i % choices) return;
  }
  for (size_t i = 0; i < f->first.size(); ++i) {
    if (f->first[i] != i * choices) return;
  }
  for (const Vote& v : f->votes) f->full.push_back(v.weight);
}

bool WantChoices(const TreeEnsemble& f, Why* why) {
  return (f.choices >= 1 && f.choices <= kMostChoices) ||
         why->Say(GE_WHY_ATTRIBUTE, "no choice, or more than " + std::to_string(kMostChoices));
}

// Elements of a tensor attribute, which may lie unaligned; false where it is of another type or has
// another size.
template <typename T>
bool ReadTensor(const ge_node& n, std::string_view name, int32_t dtype, std::vector<T>* to) {
  const ge_attr* a = gp::FindAttr(n, name, GE_ATTR_TENSOR);
  if (a == nullptr || a->tensor_type.dtype != dtype || a->tensor_bytes != to->size() * sizeof(T)) {
    return false;
  }
  if (!to->empty()) std::memcpy(to->data(), a->tensor, a->tensor_bytes);
  return true;
}

// Version 5: inner nodes, then leaves, each with a vote.
bool ReadEnsemble(const ge_node& n, const TreeEnsemble& f, Lists* l, Why* why) {
  const auto feature = gp::AttrInts(n, "nodes_featureids");
  const auto missing = gp::AttrInts(n, "nodes_missing_value_tracks_true");
  const auto target = gp::AttrInts(n, "leaf_targetids"), roots = gp::AttrInts(n, "tree_roots");
  const gp::Span<int64_t> child[] = {gp::AttrInts(n, "nodes_truenodeids"),
                                     gp::AttrInts(n, "nodes_falsenodeids")};
  const gp::Span<int64_t> ends[] = {gp::AttrInts(n, "nodes_trueleafs"),
                                    gp::AttrInts(n, "nodes_falseleafs")};
  const size_t count = feature.size(), leaves = target.size();
  std::vector<uint8_t> modes(count);
  std::vector<float> splits(count), weights(leaves);
  if (!ReadTensor(n, "nodes_modes", GE_U8, &modes) ||
      !ReadTensor(n, "nodes_splits", GE_F32, &splits) ||
      !ReadTensor(n, "leaf_weights", GE_F32, &weights) || count > INT32_MAX ||
      leaves > INT32_MAX - count || (missing.size() != 0 && missing.size() != count)) {
    return ListsDiffer(why);
  }
  for (int side = 0; side < 2; ++side) {
    if (child[side].size() != count || ends[side].size() != count) return ListsDiffer(why);
  }
  l->nodes.resize(count + leaves);
  l->votes.resize(count + leaves);
  for (size_t i = 0; i < count; ++i) {
    Listed& t = l->nodes[i];
    if (modes[i] > 5) return why->Say(GE_WHY_ATTRIBUTE, "BRANCH_MEMBER");
    if (feature[i] < 0 || feature[i] >= f.features) return ListsDiffer(why);
    t.mode = modes[i];
    t.value = splits[i];
    t.feature = feature[i];
    t.missing_yes = missing.size() != 0 && missing[i] != 0;
    for (int side = 0; side < 2; ++side) {
      const bool leaf = ends[side][i] != 0;
      const auto id = static_cast<uint64_t>(child[side][i]);
      if (id >= (leaf ? leaves : count)) return ListsDiffer(why);
      (side == 0 ? t.yes : t.no) = static_cast<uint32_t>(leaf ? count + id : id);
    }
  }
  for (size_t i = 0; i < leaves; ++i) {
    if (target[i] < 0 || target[i] >= f.choices) return ListsDiffer(why);
    l->votes[count + i] = {{static_cast<uint32_t>(target[i]), weights[i]}};
  }
  for (const int64_t root : roots) {
    if (root < 0 || static_cast<uint64_t>(root) >= count) return ListsDiffer(why);
    l->roots.push_back(static_cast<uint32_t>(root));
  }
  return true;
}

bool MakeEnsemble(const Parser& g, const ge_node& n, const std::string& kind, TreeEnsemble* f,
                  Why* why) {
  Lists lists;
  if (!RowsOf(g, n, &f->rows, &f->features, why) || !ReadPostTransform(n, &f->transform, why)) {
    return false;
  }
  if (!WantChoices(*f, why) || !ReadListed(n, kind, f->choices, f->features, &lists, why))
    return false;
  const auto base = gp::AttrFloats(n, "base_values");
  f->base.assign(base.begin(), base.end());
  if (!Flattening(lists, false, f).Do(why)) return false;
  FillFull(f);
  return true;
}

bool ParseTreeRegressor(const Parser& g, uint32_t i, Unit* u, Why* why) {
  static constexpr std::string_view kNames[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const ge_node& n = g.node(i);
  auto f = std::make_shared<TreeEnsemble>();
  const auto* sum = std::find(std::begin(kNames), std::end(kNames),
                              gp::AttrString(n, "aggregate_function", "SUM"));
  if (sum == std::end(kNames)) return why->Say(GE_WHY_ATTRIBUTE, "an aggregate_function not known");
  f->sum = static_cast<VoteSum>(sum - std::begin(kNames));
  f->choices = gp::AttrInt(n, "n_targets", 1);
  if (!MakeEnsemble(g, n, "target", f.get(), why) ||
      !HasOut(g, n, 0, GE_F32, {f->rows, f->choices}, why)) {
    return false;
  }
  if (!f->base.empty() && f->base.size() != static_cast<size_t>(f->choices))
    return ListsDiffer(why);
  u->spec = TreeEnsembleSpec{std::move(f)};
  return true;
}

bool ParseTreeEnsemble(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto f = std::make_shared<TreeEnsemble>();
  if (!RowsOf(g, n, &f->rows, &f->features, why)) return false;
  const int64_t sum = gp::AttrInt(n, "aggregate_function", 1);
  const int64_t transform = gp::AttrInt(n, "post_transform", 0);
  if (sum < 0 || sum > 3 || transform < 0 || transform > 4) return ListsDiffer(why);
  f->sum = static_cast<VoteSum>(sum);
  f->transform = static_cast<PostTransform>(transform);
  f->choices = u->dims.size() == 2 ? u->dims[1] : 0;
  Lists lists;
  if (!WantChoices(*f, why) || !HasOut(g, n, 0, GE_F32, {f->rows, f->choices}, why) ||
      !ReadEnsemble(n, *f, &lists, why) || !Flattening(lists, true, f.get()).Do(why)) {
    return false;
  }
  FillFull(f.get());
  u->spec = TreeEnsembleSpec{std::move(f)};
  return true;
}

bool ParseTreeClassifier(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto f = std::make_shared<TreeEnsemble>();
  const auto labels = gp::AttrInts(n, "classlabels_int64s");
  f->labels.assign(labels.begin(), labels.end());
  f->choices = static_cast<int64_t>(labels.size());
  if (!MakeEnsemble(g, n, "class", f.get(), why) || !HasOut(g, n, 0, GE_I64, {f->rows}, why) ||
      !HasOut(g, n, 1, GE_F32, {f->rows, f->choices}, why)) {
    return false;
  }
  const size_t base = f->base.size();
  if (base != 0 && base != labels.size() && (base != 1 || labels.size() != 2))
    return ListsDiffer(why);
  const auto& votes = f->votes;
  f->positive = std::all_of(votes.begin(), votes.end(), [](auto& v) { return v.weight >= 0; });
  const bool alike = !votes.empty() && std::all_of(votes.begin(), votes.end(), [&](auto& v) {
    return v.choice == votes[0].choice;
  });
  f->end = EnsembleEnd::kClasses;
  if (alike && f->choices == 2) {
    f->end = votes[0].choice == 0 ? EnsembleEnd::kOneOfTwo : EnsembleEnd::kSecondOfTwo;
  }
  u->spec = TreeEnsembleSpec{std::move(f)};
  u->out.push_back(n.out[1]);
  return true;
}

constexpr Operator kTreeEnsembleOperators[] = {
    {"ai.onnx.ml.TreeEnsembleRegressor", ParseTreeRegressor, Types::kAny, 0},
    {"ai.onnx.ml.TreeEnsembleClassifier", ParseTreeClassifier, Types::kAny, 0},
    {"ai.onnx.ml.TreeEnsemble", ParseTreeEnsemble, Types::kAny, 0},
};
}  // namespace

const UnitKind TreeEnsembleSpec::kKind = {.name = "tree_ensemble",
                                          .operators = kTreeEnsembleOperators};

}  // namespace ge_engines
