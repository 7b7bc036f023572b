// A pass at fault: the first recorded graph that computes something else than the loaded one, and
// of what that pass has edited, the nodes by which it does.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ge/capsule/graph_members.h"
#include "tools/ge/capsule/bisection.h"
#include "tools/ge/capsule/compared.h"
#include "tools/ge/capsule/own_errors.h"

namespace ge::tool {
namespace {

Result<TrialAnswer> OnReference(const Bisected& b, Graph graph) {
  return RunTrial(b.r, {std::move(graph), b.r.manifest.entry, b.inputs, b.OnReference(), true},
                  b.options.seconds_a_trial);
}
Result<TrialAnswer> OnReference(const Bisected& b, const std::string& member) {
  GE_ASSIGN_OR_RETURN(Graph graph, ReadGraphMember(b.r.capsule, member));
  return OnReference(b, std::move(graph));
}

// The graphs between the loaded one and the plan, without the one whose states are inputs.
std::vector<const CapsuleGraph*> PassGraphs(const Recorded& r) {
  std::vector<const CapsuleGraph*> graphs;
  for (const CapsuleGraph& g : r.manifest.graphs) {
    if (g.stage.starts_with(kPassStage)) graphs.push_back(&g);
  }
  return graphs;
}

// Of the model, and of the checked graph, where all types are known.
Result<double> BoundOfPasses(const Bisected& b, const CapsuleGraph& loaded) {
  GE_ASSIGN_OR_RETURN(const CapsuleGraph* checked, GraphOf(b.r.manifest, "check"));
  GE_ASSIGN_OR_RETURN(const Graph first, ReadGraphMember(b.r.capsule, loaded.member));
  GE_ASSIGN_OR_RETURN(const Graph last, ReadGraphMember(b.r.capsule, checked->member));
  return std::max(b.BoundOf(first), b.BoundOf(last));
}

// Two graphs of one entry with the values that nodes make in both as further results.
class Pair {
 public:
  Pair(Graph before, Graph after, const std::string& entry)
      : before_(std::move(before)), after_(std::move(after)) {
    const Entry *b = before_.FindEntry(entry), *a = after_.FindEntry(entry);
    there_ = b != nullptr && a != nullptr &&
             fn_of(before_, b).results.size() == fn_of(after_, a).results.size();
    if (!there_) return;
    b_ = &before_.fn(b->fn);
    a_ = &after_.fn(a->fn);
    for (size_t i = 0; i < a_->results.size(); ++i) {
      values_.emplace_back(b_->results[i], a_->results[i]);
    }
    std::set<ValueId> made;
    for (const Node& n : b_->nodes) made.insert(n.outputs.begin(), n.outputs.end());
    for (const Node& n : a_->nodes) {
      for (const ValueId v : n.outputs) {
        const bool both = v != 0 && made.count(v) != 0 && a_->value(v).type.is_tensor() &&
                          b_->value(v).type.is_tensor();
        if (both) values_.emplace_back(v, v);
      }
    }
  }

  bool there() const { return there_; }
  // With those results.
  Graph Before() const { return With(before_, b_->id, true); }
  Graph After() const { return With(after_, a_->id, false); }

  // The nodes by which the first value differs, in the order of the graph behind the pass.
  std::vector<std::string> Accused(const TrialAnswer& wanted, const TrialAnswer& found,
                                   double bound) const {
    std::vector<ValueId> same_before, same_after;
    std::set<ValueId> wrong;
    for (size_t i = 0; i < values_.size() && i < found.size() && i < wanted.size(); ++i) {
      CapsuleTensor t;
      t.dtype = a_->value(values_[i].second).type.dtype;
      if (t.dtype == DType::kUndefined) t.dtype = DType::kFloat;
      if (CompareTensor(t, found[i], wanted[i], bound).within) {
        same_before.push_back(values_[i].first);
        same_after.push_back(values_[i].second);
      } else {
        wrong.insert(values_[i].second);
      }
    }
    for (const Node& n : a_->nodes) {
      for (const ValueId v : n.outputs) {
        if (wrong.count(v) != 0) return Between(v, same_before, same_after);
      }
    }
    return {};
  }

 private:
  static const Function& fn_of(const Graph& g, const Entry* e) { return g.fn(e->fn); }
  Graph With(const Graph& graph, FunctionId fn, bool before) const {
    Graph out = graph;
    auto& results = out.fn(fn).results;
    results.clear();
    for (const auto& [b, a] : values_) results.push_back(before ? b : a);
    return out;
  }

  static const Node* Find(const Function& f, NodeId id) {
    for (const Node& n : f.nodes) {
      if (n.id == id) return &n;
    }
    return nullptr;
  }

  // Nodes that the pass took away in front of the value, else those that it put there.
  std::vector<std::string> Between(ValueId wrong, const std::vector<ValueId>& same_before,
                                   const std::vector<ValueId>& same_after) const {
    ValueId was = wrong;
    for (const auto& [b, a] : values_) {
      if (a == wrong) was = b;
    }
    std::vector<std::string> gone, come, all;
    for (const NodeId id : NodesBehind(*b_, was, same_before)) {
      if (Find(*a_, id) == nullptr) gone.push_back(NodeLabel(*Find(*b_, id)));
    }
    for (const NodeId id : NodesBehind(*a_, wrong, same_after)) {
      const Node& n = *Find(*a_, id);
      all.push_back(NodeLabel(n));
      if (Find(*b_, id) == nullptr) come.push_back(NodeLabel(n));
    }
    return !gone.empty() ? gone : !come.empty() ? come : all;
  }

  Graph before_, after_;
  bool there_ = false;
  const Function *b_ = nullptr, *a_ = nullptr;
  std::vector<std::pair<ValueId, ValueId>> values_;  // of before_ and of after_
};

// By which of its edits a pass has changed what is computed; empty where that cannot be told.
std::vector<std::string> EditedNodes(const Bisected& b, const std::string& before,
                                     const std::string& after, double bound) {
  auto first = ReadGraphMember(b.r.capsule, before), last = ReadGraphMember(b.r.capsule, after);
  if (!first.ok() || !last.ok()) return {};
  const Pair pair(*std::move(first), *std::move(last), b.r.manifest.entry);
  if (!pair.there()) return {};
  const auto wanted = OnReference(b, pair.Before()), found = OnReference(b, pair.After());
  if (!wanted.ok() || !found.ok()) return {};
  return pair.Accused(*wanted, *found, bound);
}

}  // namespace

// Halves the passes.
Result<MaybeVerdict> FaultyPass(Bisected* b) {
  const CapsuleManifest& m = b->r.manifest;
  GE_ASSIGN_OR_RETURN(const CapsuleGraph* loaded, GraphOf(m, "load"));
  const auto wanted = OnReference(*b, loaded->member);
  if (!wanted.ok()) {
    b->Say(fmt::format("the loaded model does not run on {}: {}", b->options.against,
                       wanted.status().message()));
    return MaybeVerdict();
  }
  const std::vector<const CapsuleGraph*> graphs = PassGraphs(b->r);
  GE_ASSIGN_OR_RETURN(const double bound, BoundOfPasses(*b, *loaded));
  std::string why;
  const auto differs = [&](size_t i) -> Result<bool> {
    ++b->graphs;
    const auto found = OnReference(*b, graphs[i]->member);
    if (SaysNothing(found.status(), false)) {
      return Status(found.status().code(),
                    fmt::format("after {}: {}", graphs[i]->stage, found.status().message()));
    }
    why = found.ok() ? WhyDifferent(m.outputs, *found, *wanted, bound) : found.status().message();
    b->Say(fmt::format("  after {:<40} {}", graphs[i]->stage, why.empty() ? "right" : why));
    return !why.empty();
  };
  if (graphs.empty()) return MaybeVerdict();
  GE_ASSIGN_OR_RETURN(const bool any, differs(graphs.size() - 1));
  if (!any) return MaybeVerdict();
  size_t right = 0, wrong = graphs.size() - 1;  // the first wrong one is in [right, wrong]
  std::string last = why;
  while (right < wrong) {
    const size_t middle = (right + wrong) / 2;
    GE_ASSIGN_OR_RETURN(const bool bad, differs(middle));
    if (bad) last = why;
    (bad ? wrong : right) = bad ? middle : middle + 1;
  }
  Verdict v = MadeVerdict("pass", last);
  v.pass = graphs[wrong]->stage.substr(sizeof kPassStage - 1);
  v.nodes = EditedNodes(*b, wrong == 0 ? loaded->member : graphs[wrong - 1]->member,
                        graphs[wrong]->member, bound);
  return MaybeVerdict(std::move(v));
}

}  // namespace ge::tool
