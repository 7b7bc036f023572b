#include "ge/compile/fold/sink_sources.h"

#include <algorithm>

#include "ge/ops/op.h"

namespace ge {
namespace {

constexpr int64_t kLarge = 1 << 20;  // bytes; below it a node stays where it is

bool IsSource(const Function& f, const Node& n) {
  const bool constant = std::all_of(n.inputs.begin(), n.inputs.end(),
                                    [&](ValueId v) { return v == 0 || f.value(v).constant != 0; });
  if (!constant) return false;  // hardly a node is left to look at
  int64_t bytes = 0;
  for (ValueId v : n.outputs)
    bytes = std::max(bytes, v ? ByteCount(f.value(v).type).value_or(0) : 0);
  const OpDef* op = FindOp(n.domain, n.op);
  return bytes >= kLarge && op && op->deterministic && !op->has_effects && n.effects.empty() &&
         n.callees.empty() && n.after.empty();
}

}  // namespace

void SinkSources(Function* function) {
  std::vector<Node>& nodes = function->nodes;
  std::vector<size_t> source;  // by value: place in `nodes` of the source that makes it, and 1
  std::vector<bool> sunk(nodes.size(), false);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!IsSource(*function, nodes[i])) continue;
    source.resize(function->values.size());
    sunk[i] = true;
    for (ValueId v : nodes[i].outputs) {
      if (v) source[v] = i + 1;
    }
  }
  if (source.empty()) return;
  std::vector<Node> order;
  order.reserve(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (sunk[i]) continue;
    for (ValueId v : nodes[i].inputs) {
      const size_t from = source[v];
      if (from == 0 || !sunk[from - 1]) continue;
      sunk[from - 1] = false;
      order.push_back(std::move(nodes[from - 1]));
    }
    order.push_back(std::move(nodes[i]));
  }
  for (size_t i = 0; i < nodes.size(); ++i) {  // those that only a result reads
    if (sunk[i]) order.push_back(std::move(nodes[i]));
  }
  nodes = std::move(order);
}

}  // namespace ge
