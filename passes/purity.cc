#include "passes/purity.h"

#include "ge/ops/op.h"

namespace ge {
namespace {

bool HasOwnEffect(const Graph& graph, const Node& node) {
  if (!node.effects.empty()) return true;
  const OpDef* op = FindOp(graph, node);
  return !op || op->has_effects;  // Of an unknown operator the worst is assumed.
}

}  // namespace

bool IsPure(const Graph& graph, const Node& node) {
  if (!node.effects.empty() || !node.callees.empty() || !node.after.empty()) return false;
  const OpDef* op = FindOp(graph, node);
  return op && op->deterministic && !op->has_effects;
}

std::vector<bool> FunctionsWithEffects(const Graph& graph) {
  std::vector<bool> effects(graph.functions.size(), false);
  std::vector<std::vector<FunctionId>> callers(graph.functions.size());
  std::vector<FunctionId> todo;
  for (const Function& f : graph.functions) {
    bool own = !f.effects.empty();
    for (const Node& n : f.nodes) {
      own |= n.id && HasOwnEffect(graph, n);
      for (const Callee& c : n.callees) callers[c.fn].push_back(f.id);
    }
    if (own) todo.push_back(f.id);
  }
  while (!todo.empty()) {
    const FunctionId f = todo.back();
    todo.pop_back();
    if (effects[f]) continue;
    effects[f] = true;
    todo.insert(todo.end(), callers[f].begin(), callers[f].end());
  }
  return effects;
}

bool IsDroppable(const Graph& graph, const Node& node, const std::vector<bool>& with_effects) {
  if (HasOwnEffect(graph, node)) return false;
  for (const Callee& c : node.callees) {
    if (with_effects[c.fn]) return false;
  }
  return true;
}

}  // namespace ge
