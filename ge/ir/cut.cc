#include "ge/ir/cut.h"

#include <algorithm>
#include <set>
#include <utility>

namespace ge {
namespace {

// Calls `visit` with every id of a function that the type holds.
template <typename Visit>
void EachFunctionOf(Type* type, const Visit& visit) {
  if (type->fn != 0) visit(type->fn);
  for (FunctionId& id : type->candidates) visit(id);
  for (Type& part : type->elems) EachFunctionOf(&part, visit);
}

// Calls `visit` with every id of another function that this one holds.
template <typename Visit>
void EachFunctionOf(Function* f, const Visit& visit) {
  for (FunctionId* id : {&f->derived.of, &f->custom_jvp, &f->custom_vjp}) {
    if (*id != 0) visit(*id);
  }
  for (Value& v : f->values) EachFunctionOf(&v.type, visit);
  for (Node& n : f->nodes) {
    for (Callee& c : n.callees) visit(c.fn);
    for (Attr& a : n.attrs) {
      if (auto* ref = std::get_if<FunctionRef>(&a.value); ref != nullptr && ref->id != 0) {
        visit(ref->id);
      }
      if (auto* type = std::get_if<Type>(&a.value)) EachFunctionOf(type, visit);
    }
  }
}

// Calls `visit` with every id of a state in effects.
template <typename Visit>
void EachState(Graph* graph, const Visit& visit) {
  for (Function& f : graph->functions) {
    for (Effect& e : f.effects) {
      if (e.kind == EffectKind::kState) visit(e.object);
    }
    for (Node& n : f.nodes) {
      for (Effect& e : n.effects) {
        if (e.kind == EffectKind::kState) visit(e.object);
      }
    }
  }
}

}  // namespace

std::vector<bool> NeededNodes(const Function& function, std::vector<bool> keep,
                              const std::vector<ValueId>& results) {
  std::set<ValueId> needed(results.begin(), results.end());
  for (size_t i = function.nodes.size(); i-- > 0;) {
    const Node& n = function.nodes[i];
    keep[i] = keep[i] && (!n.effects.empty() || n.outputs.empty() ||
                          std::any_of(n.outputs.begin(), n.outputs.end(),
                                      [&](ValueId v) { return v != 0 && needed.count(v) != 0; }));
    if (keep[i]) needed.insert(n.inputs.begin(), n.inputs.end());
  }
  return keep;
}

void CutFunction(Function* function, const std::vector<bool>& keep, std::vector<ValueId> results) {
  Function& f = *function;
  std::set<ValueId> made, read(results.begin(), results.end());
  std::set<NodeId> left;
  std::vector<ValueId> in_order;
  std::vector<Node> nodes;
  for (size_t i = 0; i < keep.size(); ++i) {
    if (!keep[i]) continue;
    const Node& n = nodes.emplace_back(std::move(f.nodes[i]));
    left.insert(n.id);
    made.insert(n.outputs.begin(), n.outputs.end());
    read.insert(n.inputs.begin(), n.inputs.end());
    in_order.insert(in_order.end(), n.inputs.begin(), n.inputs.end());
  }
  in_order.insert(in_order.end(), results.begin(), results.end());
  std::erase_if(f.params, [&](ValueId v) { return read.count(v) == 0; });
  std::set<ValueId> known(f.params.begin(), f.params.end());
  for (const ValueId v : in_order) {
    const bool there = v == 0 || f.value(v).constant != 0 || made.count(v) != 0;
    if (!there && known.insert(v).second) f.params.push_back(v);
  }
  f.effects.clear();
  for (Node& n : nodes) {
    std::erase_if(n.after, [&](NodeId id) { return left.count(id) == 0; });
    for (const Effect& e : n.effects) {
      if (std::find(f.effects.begin(), f.effects.end(), e) == f.effects.end()) {
        f.effects.push_back(e);
      }
    }
  }
  f.nodes = std::move(nodes);
  f.results = std::move(results);
}

void DropUncalled(Graph* graph) {
  std::vector<FunctionId> renamed(graph->functions.size(), 0), order;
  const auto reach = [&](FunctionId fn) {
    if (fn == 0 || fn >= renamed.size() || renamed[fn] != 0) return;
    order.push_back(fn);
    renamed[fn] = static_cast<FunctionId>(order.size());
  };
  for (const Entry& e : graph->entries) reach(e.fn);
  for (const State& s : graph->states) reach(s.init_fn);
  for (size_t i = 0; i < order.size(); ++i) EachFunctionOf(&graph->fn(order[i]), reach);
  std::vector<Function> kept(1);
  for (const FunctionId fn : order) {
    Function& f = kept.emplace_back(std::move(graph->fn(fn)));
    f.id = renamed[fn];
    EachFunctionOf(&f, [&](FunctionId& id) { id = id < renamed.size() ? renamed[id] : 0; });
  }
  graph->functions = std::move(kept);
  for (Entry& e : graph->entries) e.fn = renamed[e.fn];
  for (State& s : graph->states) s.init_fn = renamed[s.init_fn];
}

void DropUnusedStates(Graph* graph) {
  std::vector<StateId> renamed(graph->states.size(), 0);
  EachState(graph, [&](uint32_t id) {
    if (id < renamed.size()) renamed[id] = 1;
  });
  for (StateId id = 1; id < renamed.size(); ++id) {
    const StateId master = graph->states[id].master_of;
    if (renamed[id] != 0 && master != 0 && master < renamed.size()) renamed[master] = 1;
  }
  StateId next = 1;
  for (StateId id = 1; id < renamed.size(); ++id) {
    if (renamed[id] == 0) continue;
    renamed[id] = next;
    if (next != id) graph->states[next] = std::move(graph->states[id]);
    ++next;
  }
  if (!graph->states.empty()) graph->states.resize(next);
  for (State& s : graph->states)
    s.master_of = s.master_of < renamed.size() ? renamed[s.master_of] : 0;
  EachState(graph, [&](uint32_t& id) { id = id < renamed.size() ? renamed[id] : id; });
}

}  // namespace ge
