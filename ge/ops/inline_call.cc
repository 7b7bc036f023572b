// Transaction's edits of calls: nodes of a function in place of its call.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ge/ops/edit.h"

namespace ge {
namespace {

bool Waits(const Function& f, const Node& call) {
  return !call.after.empty() || std::any_of(f.nodes.begin(), f.nodes.end(), [&](const Node& n) {
    return std::find(n.after.begin(), n.after.end(), call.id) != n.after.end();
  });
}

std::vector<FunctionId> NamedBy(const Function& f) {
  std::vector<FunctionId> named = {f.custom_jvp, f.custom_vjp, f.derived.of};
  for (const Node& n : f.nodes) {
    for (const Callee& c : n.callees) named.push_back(c.fn);
    for (const Attr& a : n.attrs) {
      if (const auto* ref = std::get_if<FunctionRef>(&a.value)) named.push_back(ref->id);
    }
  }
  return named;
}

// Functions that others than `loose` name, and what these name in turn: a circle of calls among
// loose ones is not held by itself.
std::set<FunctionId> Held(const Graph& g, const std::vector<FunctionId>& loose) {
  const std::set<FunctionId> left(loose.begin(), loose.end());
  std::vector<FunctionId> todo;
  for (const Entry& e : g.entries) todo.push_back(e.fn);
  for (const State& s : g.states) todo.push_back(s.init_fn);
  for (const Function& f : g.functions) {
    if (left.count(f.id) == 0) todo.push_back(f.id);
  }
  std::set<FunctionId> held;
  while (!todo.empty()) {
    const FunctionId fn = todo.back();
    todo.pop_back();
    if (fn == 0 || !held.insert(fn).second) continue;
    const std::vector<FunctionId> named = NamedBy(g.fn(fn));
    todo.insert(todo.end(), named.begin(), named.end());
  }
  return held;
}

// Values of a callee as values of its caller.
class Renaming {
 public:
  Renaming(Graph* graph, FunctionId fn, FunctionId callee)
      : f_(graph->fn(fn)), callee_(graph->fn(callee)), to_(callee_.values.size(), 0) {}

  void Set(ValueId v, ValueId to) { to_[v] = to; }
  ValueId operator()(ValueId v) {
    if (v == 0 || to_[v] != 0) return to_[v];
    const Value& from = callee_.value(v);
    if (from.constant == 0) return 0;  // an omitted argument
    to_[v] = AddValue(&f_, from.type, from.name);
    f_.value(to_[v]).constant = from.constant;
    return to_[v];
  }
  ValueId Fresh(ValueId v) {
    if (v == 0) return 0;
    const Value& from = callee_.value(v);
    to_[v] = AddValue(&f_, from.type.is_tensor() ? UnrankedTensor(from.type.dtype) : from.type,
                      from.name);
    return to_[v];
  }

 private:
  Function& f_;
  const Function& callee_;
  std::vector<ValueId> to_;
};

}  // namespace

bool Transaction::Inline(FunctionId fn, NodeId call, FunctionId callee, size_t skip) {
  const Node* found = Find(fn, call);
  const Function& body = graph_->fn(callee);
  const bool fits = found && callee != fn && body.attr_params.empty() &&
                    found->inputs.size() == body.params.size() + skip &&
                    found->outputs.size() <= body.results.size() && !Waits(graph_->fn(fn), *found);
  if (!fits) return false;
  const Node n = *found;
  Settle(callee);  // else nodes that were inserted are read behind those that need them
  Renaming renamed(graph_, fn, callee);
  for (size_t i = 0; i < body.params.size(); ++i) renamed.Set(body.params[i], n.inputs[skip + i]);
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    const auto param = std::find(body.params.begin(), body.params.end(), body.results[i]);
    const bool omitted = param != body.params.end() && renamed(*param) == 0;
    if (n.outputs[i] != 0 && omitted) return false;
  }
  std::map<NodeId, NodeId> copies;
  std::set<std::string> names;  // of a function's nodes differ
  for (const Node& other : graph_->fn(fn).nodes) names.insert(other.name);
  for (const Node& of : body.nodes) {
    if (of.id == 0) continue;
    Node copy = of;
    if (!copy.name.empty() && !names.insert(copy.name).second) {
      copy.origin.push_back(Origin{pass_, {std::exchange(copy.name, {})}});
    }
    for (ValueId& v : copy.inputs) v = renamed(v);
    for (ValueId& v : copy.outputs) v = renamed.Fresh(v);
    for (NodeId& first : copy.after) first = copies[first];
    copies[of.id] = Insert(fn, call, std::move(copy));
  }
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    const ValueId from = n.outputs[i];
    if (from == 0) continue;
    ValueId to = renamed(body.results[i]);
    if (!CanReplace(fn, from, to)) {
      to = AddNode(fn, call, "", "Identity", {to}, {}, {graph_->fn(fn).value(to).type}, {&n})[0];
    }
    ReplaceUses(fn, from, to);
  }
  Erase(fn, call);
  return true;
}

void Transaction::ForgetUnnamed(std::vector<FunctionId> functions) {
  Commit();
  for (bool any = true; any;) {
    any = false;
    const std::set<FunctionId> held = Held(*graph_, functions);
    for (size_t i = 0; i < functions.size(); ++i) {
      Function& f = graph_->fn(functions[i]);
      if (held.count(f.id) != 0 || f.values.size() <= 1) continue;
      for (const Node& n : f.nodes) {
        for (const Callee& c : n.callees) functions.push_back(c.fn);
      }
      f.nodes = {};
      f.params = {};
      f.results = {};
      f.effects = {};
      f.values.resize(1);
      any = true;
    }
  }
}

}  // namespace ge
