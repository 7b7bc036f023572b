#include "ge/ops/branches.h"

#include "ge/ops/known_ints.h"

namespace ge {

bool IsBranch(const Node& node) { return node.domain.empty() && node.op == "If"; }

std::optional<bool> KnownTruth(const Graph& graph, const Value& v) {
  const auto content = v.constant != 0 ? ConstInts(graph.consts[v.constant]) : v.ints;
  if (!content || content->size() != 1 || !content->front().known()) return std::nullopt;
  return content->front().value != 0;
}

std::optional<bool> KnownCondition(const Graph& graph, FunctionId fn, const Node& branch) {
  return KnownTruth(graph, graph.fn(fn).value(branch.inputs[0]));
}

bool TakeBranch(Transaction& transaction, FunctionId fn, const Node& branch, bool condition,
                std::vector<FunctionId>* left) {
  const std::vector<Callee> callees = branch.callees;
  for (const Callee& c : callees) {
    if (c.role != (condition ? "then_branch" : "else_branch")) continue;
    if (!transaction.Inline(fn, branch.id, c.fn, 1)) return false;
    for (const Callee& gone : callees) left->push_back(gone.fn);
    return true;
  }
  return false;
}

}  // namespace ge
