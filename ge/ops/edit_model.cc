// Transaction's edits of what lies around nodes: functions, states, entries; bodies and effects.
#include <algorithm>
#include <utility>

#include "ge/ops/edit.h"

namespace ge {

void Transaction::SetCallees(FunctionId fn, NodeId node, std::vector<Callee> callees) {
  Node* n = Find(fn, node);
  if (!n) return;
  n->callees = std::move(callees);
  Count(fn, node);
}

void Transaction::SetEffects(FunctionId fn, NodeId node, std::vector<Effect> effects) {
  Node* n = Find(fn, node);
  if (!n) return;
  std::vector<Effect>& all = graph_->fn(fn).effects;
  for (const Effect& e : effects) {
    // Which object, not which turn: the sequence is the node's own.
    const bool known = std::any_of(all.begin(), all.end(), [&](const Effect& k) {
      return k.kind == e.kind && k.object == e.object;
    });
    if (!known) all.push_back(e);
  }
  n->effects = std::move(effects);
  Count(fn, node);
}

void Transaction::SetAfter(FunctionId fn, NodeId node, std::vector<NodeId> after) {
  Node* n = Find(fn, node);
  if (!n) return;
  n->after = std::move(after);
  Count(fn, node);
}

FunctionId Transaction::AddFunction(std::string name) {
  CountEdit();
  return graph_->AddFunction(std::move(name)).id;
}

FunctionId Transaction::CopyFunction(FunctionId of, std::string name) {
  Commit();
  Function copy = graph_->fn(of);
  const FunctionId id = AddFunction(name);
  copy.id = id;
  copy.name = std::move(name);
  copy.derived = {};
  copy.custom_jvp = 0;
  copy.custom_vjp = 0;
  graph_->fn(id) = std::move(copy);
  return id;
}

ValueId Transaction::AddParam(FunctionId fn, std::string name, Type type) {
  Function& f = graph_->fn(fn);
  const ValueId v = AddValue(&f, std::move(type), std::move(name));
  f.params.push_back(v);
  IndexOf(fn).params[v] = true;
  CountEdit();
  return v;
}

void Transaction::SetResults(FunctionId fn, std::vector<ValueId> results,
                             std::vector<std::string> names) {
  Function& f = graph_->fn(fn);
  Index& x = IndexOf(fn);
  for (const ValueId v : f.results) x.results.erase(v);
  for (uint32_t i = 0; i < results.size(); ++i) {
    x.results[results[i]].push_back(i);
    if (i < names.size()) f.value(results[i]).name = std::move(names[i]);
  }
  f.results = std::move(results);
  CountEdit();
}

StateId Transaction::AddState(State state) {
  CountEdit();
  graph_->states.push_back(std::move(state));
  return static_cast<StateId>(graph_->states.size() - 1);
}

void Transaction::AddEntry(Entry entry) {
  CountEdit();
  graph_->entries.push_back(std::move(entry));
}

void Transaction::ReplaceEntry(size_t entry, FunctionId fn) {
  CountEdit();
  graph_->entries[entry].fn = fn;
}

void Transaction::ReplaceState(StateId state, Type type, ConstId init, FunctionId init_fn) {
  CountEdit();
  State& s = graph_->states[state];
  s.type = std::move(type);
  s.init = init;
  s.init_fn = init_fn;
}

void Transaction::AddMeta(std::string key, std::string text) {
  CountEdit();
  graph_->meta[std::move(key)] = std::move(text);
}

Status Transaction::Sort(FunctionId fn) {
  Commit();
  return SortNodes(&graph_->fn(fn));
}

}  // namespace ge
