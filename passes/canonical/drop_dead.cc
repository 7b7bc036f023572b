#include "passes/canonical/drop_dead.h"

#include <optional>

#include "ge/ops/op.h"
#include "passes/purity.h"

namespace ge {
namespace {

// Trailing outputs that the operator may leave out and nobody reads.
void DropUnreadOutputs(Transaction& t, FunctionId fn, const Node& n,
                       const std::vector<bool>& live) {
  if (n.outputs.size() < 2) return;
  const OpDef* op = FindOp(t.graph(), n);
  if (!op) return;
  const NodeId id = n.id;
  for (size_t s = n.outputs.size(); s-- > 1;) {
    const bool optional = s < op->outputs.size() && op->outputs[s].arity == Arity::kOptional;
    const Node& now = n;
    if (optional && s < now.outputs.size() && now.outputs[s] && !live[now.outputs[s]]) {
      t.DropOutput(fn, id, static_cast<uint32_t>(s));
    }
  }
}

}  // namespace

Status DropDead::Run(Transaction& transaction, const PassContext&) {
  std::optional<std::vector<bool>> known;  // by function, of the graph as it was
  const auto effects = [&]() -> const std::vector<bool>& {
    if (!known) known = FunctionsWithEffects(transaction.graph());
    return *known;
  };
  for (FunctionId fn = 1; fn < transaction.graph().functions.size(); ++fn) {
    const Function& f = transaction.graph().fn(fn);
    std::vector<bool> live(f.values.size(), false);
    for (ValueId v : f.results) live[v] = true;
    for (size_t i = f.nodes.size(); i-- > 0;) {
      const Node& n = f.nodes[i];
      if (!n.id) continue;
      bool needed = false;
      for (ValueId v : n.outputs) needed |= v && live[v];
      if (!needed && IsDroppable(transaction.graph(), n, effects())) {
        transaction.Erase(fn, n.id);
        continue;
      }
      DropUnreadOutputs(transaction, fn, n, live);
      for (ValueId v : n.inputs) live[v] = true;
    }
  }
  return {};
}

}  // namespace ge
