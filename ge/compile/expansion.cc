#include "ge/compile/expansion.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "ge/compile/coded_weights.h"
#include "ge/ops/edit.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

const OpDef* WithDecomposition(const Graph& g, const Node& n) {
  if (!n.effects.empty() || !n.callees.empty()) return nullptr;
  const OpDef* op = FindOp(g, n);
  return op && op->decompose ? op : nullptr;
}

// The constant that takes a coded weight's place; 0 where there is none. `floats` empty: one that
// only its type is asked of.
Result<ValueId> PutConstant(Transaction& t, FunctionId fn, const Node& node,
                            const FloatsOfWeight& floats) {
  const Function& f = t.graph().fn(fn);
  if (!floats) return t.AddConst(fn, StandIn(f.value(node.outputs[0]).type));
  GE_ASSIGN_OR_RETURN(std::optional<Const> made, floats(t.graph(), f, node));
  return made ? t.AddConst(fn, *std::move(made)) : ValueId{0};
}

// Parts of constants alone will be folded: where offers are asked for, constants that only types
// are asked of stand in for those that are more than shapes and axes. Places into Function::nodes.
void PutStandIns(Transaction& t, FunctionId fn, size_t first, size_t end) {
  constexpr int64_t kMostIndices = 64;
  for (size_t i = first; i < end; ++i) {
    const Function& f = t.graph().fn(fn);
    const Node& n = f.nodes[i];
    if (n.inputs.empty() || n.outputs.size() != 1 || !n.effects.empty() || !n.callees.empty())
      continue;
    const Type type = f.value(n.outputs[0]).type;
    const bool constant = std::all_of(n.inputs.begin(), n.inputs.end(),
                                      [&](ValueId v) { return !v || f.value(v).constant; });
    const auto bytes = ByteCount(type);
    if (!constant || !bytes || DTypeBits(type.dtype) < 8 || *bytes <= kMostIndices * 8) continue;
    const NodeId id = n.id;
    t.ReplaceUses(fn, n.outputs[0], t.AddConst(fn, StandIn(type)));
    t.Erase(fn, id);
  }
}

}  // namespace

std::vector<NodeId> NodesWithParts(const Graph& g, const Function& f) {
  std::vector<NodeId> out;
  for (const Node& n : f.nodes) {
    if (WithDecomposition(g, n)) out.push_back(n.id);
  }
  return out;
}

Result<std::vector<Expansion>> Expand(const FloatsOfWeight& floats, Graph* g, FunctionId fn,
                                      const std::vector<NodeId>& which) {
  std::unordered_map<NodeId, size_t> at;
  for (size_t i = 0; i < g->fn(fn).nodes.size(); ++i) at[g->fn(fn).nodes[i].id] = i;
  std::vector<Expansion> out;
  g->opsets.emplace("", kCanonicalOpset);  // parts are ONNX's operators, whatever the node was
  Transaction t(g, "decompose");
  for (NodeId id : which) {
    const Node node = g->fn(fn).nodes[at.at(id)];
    const size_t before = g->fn(fn).nodes.size();
    std::vector<ValueId> to;
    if (IsCodedWeight(*g, g->fn(fn), node)) {
      GE_ASSIGN_OR_RETURN(const ValueId constant, PutConstant(t, fn, node, floats));
      if (constant) to = {constant};
    } else {
      to = WithDecomposition(*g, node)->decompose(t, fn, node);
    }
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
    if (!floats) PutStandIns(t, fn, before, g->fn(fn).nodes.size());
    out.push_back(std::move(e));
  }
  t.Commit();
  return out;
}

Result<std::vector<Expansion>> ExpandToAsk(Graph* g, FunctionId fn,
                                           const std::vector<NodeId>& which) {
  return Expand({}, g, fn, which);
}

}  // namespace ge
