#include "ge/compile/decompose/expansion.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "ge/base/log.h"
#include "ge/compile/decompose/quantized_weights.h"
#include "ge/ops/edit.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

const OpDef* WithDecomposition(const Graph& g, const Node& n) {
  if (!n.effects.empty() || !n.callees.empty()) return nullptr;
  const OpDef* op = FindOp(g, n);
  return op && op->decompose ? op : nullptr;
}

// The constant that takes a quantized weight's place; 0 where there is none. `floats` empty: one
// that only its type is asked of.
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

// An operator of a plugin that nothing runs but its parts.
bool RunsAsPartsAlone(const OpDef* op) {
  return op && op->of_plugin && op->decompose && !op->kernel;
}

Status Endless(const Node& root, const std::vector<const OpDef*>& chain, const OpDef& again) {
  std::string way;
  for (const OpDef* op : chain) way += FullName(*op) + " -> ";
  return Status(Code::kPluginError,
                fmt::format("operator {} decomposes into itself: {}{}; give it a kernel, or parts "
                            "that do not lead back to it",
                            FullName(again), way, FullName(again)))
      .AtNode(NodeLabel(root));
}

// Parts that have no other way become their own parts, and these theirs. `first`: of what the root
// became; *to, what stands for its outputs, follows.
Status TakePartsApart(Transaction& t, FunctionId fn, const Node& root, size_t first,
                      std::vector<ValueId>* to) {
  constexpr size_t kMostParts = 1 << 16;  // as one rule may make
  const auto nodes = [&]() -> const std::vector<Node>& { return t.graph().fn(fn).nodes; };
  std::unordered_map<NodeId, std::vector<const OpDef*>> above;  // what it came out of, but the root
  for (size_t i = first; i < nodes().size(); ++i) {
    const Node node = nodes()[i];
    const OpDef* op = node.id ? WithDecomposition(t.graph(), node) : nullptr;
    if (!RunsAsPartsAlone(op)) continue;
    std::vector<const OpDef*> chain = {FindOp(t.graph(), root)};
    const auto known = above.find(node.id);
    if (known != above.end()) chain.insert(chain.end(), known->second.begin(), known->second.end());
    if (std::count(chain.begin(), chain.end(), op) > 0) return Endless(root, chain, *op);
    const size_t before = nodes().size();
    const std::vector<ValueId> inner = op->decompose(t, fn, node);
    if (inner.size() != node.outputs.size()) continue;
    if (nodes().size() - first > kMostParts) {
      return Status(Code::kPluginError, fmt::format("operator {} becomes more than {} nodes",
                                                    FullName(*chain[0]), kMostParts))
          .AtNode(NodeLabel(root));
    }
    std::vector<const OpDef*> deeper(chain.begin() + 1, chain.end());
    deeper.push_back(op);
    for (size_t k = before; k < nodes().size(); ++k) above[nodes()[k].id] = deeper;
    for (size_t k = 0; k < inner.size(); ++k) {
      if (!node.outputs[k]) continue;
      t.ReplaceUses(fn, node.outputs[k], inner[k]);
      std::replace(to->begin(), to->end(), node.outputs[k], inner[k]);
    }
    t.Erase(fn, node.id);
  }
  return {};
}

// What stands for the node's outputs; empty where it stays as it is.
Result<std::vector<ValueId>> PartsOf(Transaction& t, FunctionId fn, const Node& node) {
  const OpDef& op = *WithDecomposition(t.graph(), node);
  const size_t first = t.graph().fn(fn).nodes.size();
  std::vector<ValueId> to = op.decompose(t, fn, node);
  if (to.size() != node.outputs.size() || !op.of_plugin) return to;
  Status done = TakePartsApart(t, fn, node, first, &to);
  if (done.ok()) return to;
  if (!op.kernel) return done;
  LogLine(1, done.ToString() + "; its kernel runs it");
  for (size_t i = t.graph().fn(fn).nodes.size(); i-- > first;) {
    t.Erase(fn, t.graph().fn(fn).nodes[i].id);
  }
  return std::vector<ValueId>();
}

}  // namespace

std::vector<NodeId> NodesWithParts(const Graph& graph, const Function& function) {
  std::vector<NodeId> out;
  for (const Node& n : function.nodes) {
    if (WithDecomposition(graph, n)) out.push_back(n.id);
  }
  return out;
}

Result<std::vector<Expansion>> Expand(const FloatsOfWeight& floats, Graph* graph, FunctionId fn,
                                      const std::vector<NodeId>& which) {
  std::unordered_map<NodeId, size_t> at;
  for (size_t i = 0; i < graph->fn(fn).nodes.size(); ++i) at[graph->fn(fn).nodes[i].id] = i;
  std::vector<Expansion> out;
  graph->opsets.emplace("", kCanonicalOpset);  // parts are ONNX's operators, whatever the node was
  Transaction t(graph, "decompose");
  for (NodeId id : which) {
    const Node node = graph->fn(fn).nodes[at.at(id)];
    const size_t before = graph->fn(fn).nodes.size();
    std::vector<ValueId> to;
    if (IsQuantizedWeight(*graph, graph->fn(fn), node)) {
      GE_ASSIGN_OR_RETURN(const ValueId constant, PutConstant(t, fn, node, floats));
      if (constant) to = {constant};
    } else {
      GE_ASSIGN_OR_RETURN(to, PartsOf(t, fn, node));
    }
    if (to.size() != node.outputs.size()) continue;
    Expansion e{id, node.op, {}, {}, {}};
    for (size_t i = before; i < graph->fn(fn).nodes.size(); ++i) {
      if (graph->fn(fn).nodes[i].id) e.parts.push_back(graph->fn(fn).nodes[i].id);
    }
    for (size_t i = 0; i < to.size(); ++i) {
      if (!node.outputs[i]) continue;
      e.from.push_back(node.outputs[i]);
      e.to.push_back(to[i]);
      t.ReplaceUses(fn, node.outputs[i], to[i]);
    }
    t.Erase(fn, id);
    if (!floats) PutStandIns(t, fn, before, graph->fn(fn).nodes.size());
    out.push_back(std::move(e));
  }
  t.Commit();
  return out;
}

Result<std::vector<Expansion>> ExpandToAsk(Graph* graph, FunctionId fn,
                                           const std::vector<NodeId>& which) {
  return Expand({}, graph, fn, which);
}

}  // namespace ge
