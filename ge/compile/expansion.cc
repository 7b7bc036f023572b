#include "ge/compile/expansion.h"

#include <unordered_map>
#include <utility>

#include "ge/ops/edit.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

const OpDef* WithDecomposition(const Graph& g, const Node& n) {
  if (!n.effects.empty() || !n.callees.empty()) return nullptr;
  const OpDef* op = FindOp(g, n);
  return op && op->decompose ? op : nullptr;
}

}  // namespace

std::vector<NodeId> NodesWithParts(const Graph& g, const Function& f) {
  std::vector<NodeId> out;
  for (const Node& n : f.nodes) {
    if (WithDecomposition(g, n)) out.push_back(n.id);
  }
  return out;
}

std::vector<Expansion> Expand(Graph* g, FunctionId fn, const std::vector<NodeId>& which) {
  std::unordered_map<NodeId, size_t> at;
  for (size_t i = 0; i < g->fn(fn).nodes.size(); ++i) at[g->fn(fn).nodes[i].id] = i;
  std::vector<Expansion> out;
  g->opsets.emplace("", kCanonicalOpset);  // parts are ONNX's operators, whatever the node was
  Transaction t(g, "decompose");
  for (NodeId id : which) {
    const Node node = g->fn(fn).nodes[at.at(id)];
    const size_t before = g->fn(fn).nodes.size();
    const std::vector<ValueId> to = WithDecomposition(*g, node)->decompose(t, fn, node);
    if (to.size() != node.outputs.size()) continue;
    Expansion e{id, node.op, {}, {}, {}};
    for (size_t i = before; i < g->fn(fn).nodes.size(); ++i) {
      e.parts.push_back(g->fn(fn).nodes[i].id);
    }
    for (size_t i = 0; i < to.size(); ++i) {
      if (!node.outputs[i]) continue;
      e.from.push_back(node.outputs[i]), e.to.push_back(to[i]);
      t.ReplaceUses(fn, node.outputs[i], to[i]);
    }
    t.Erase(fn, id);
    out.push_back(std::move(e));
  }
  t.Commit();
  return out;
}

}  // namespace ge
