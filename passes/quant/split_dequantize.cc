#include "passes/quant/split_dequantize.h"

#include <fmt/format.h>

#include "passes/purity.h"
#include "passes/quant/quantized_groups.h"

namespace ge {
namespace {

bool ReadsCodes(const Graph& g, const Function& f, const Node& n) {
  if (!n.id || !n.domain.empty() || n.op != "DequantizeLinear" || n.inputs.empty()) return false;
  if (n.outputs.size() != 1 || !IsPure(g, n) || f.value(n.inputs[0]).constant) return false;
  const DType codes = f.value(n.inputs[0]).type.dtype;
  return codes == DType::kInt8 || codes == DType::kUint8;
}

// A copy for the one input that this use is.
void GiveOwn(Transaction& t, FunctionId fn, const Node& shared, NodeId reader, uint32_t slot) {
  const Node copy = shared;
  const Type type = t.graph().fn(fn).value(copy.outputs[0]).type;
  const ValueId own =
      t.AddNode(fn, reader, "", copy.op, copy.inputs, copy.attrs, {type}, {&copy})[0];
  // merge-duplicates would put them together again.
  t.mutable_graph()->fn(fn).nodes.back().hints.no_cse_group =
      fmt::format("codes of {} {}", reader, slot);
  t.SetInput(fn, reader, slot, own);
}

// One use keeps the node that there is: one whose reader does not quantize, else the first.
void Split(Transaction& t, FunctionId fn, NodeId id) {
  const ValueId floats = t.NodeOf(fn, id)->outputs[0];
  bool kept = t.IsResult(fn, floats);
  std::vector<std::pair<NodeId, uint32_t>> groups;
  for (const Use& use : t.Readers(fn, floats)) {
    const Node& reader = t.graph().fn(fn).nodes[use.node_index];
    if (IsQuantized(t, fn, reader)) {
      groups.emplace_back(reader.id, use.slot);
    } else {
      kept = true;
    }
  }
  for (size_t i = kept ? 0 : 1; i < groups.size(); ++i) {
    GiveOwn(t, fn, *t.NodeOf(fn, id), groups[i].first, groups[i].second);
  }
}

}  // namespace

Status SplitDequantize::Run(Transaction& transaction, const PassContext&) {
  for (FunctionId fn = 1; fn < transaction.graph().functions.size(); ++fn) {
    const size_t count = transaction.graph().fn(fn).nodes.size();
    for (size_t i = 0; i < count; ++i) {
      const Function& f = transaction.graph().fn(fn);
      if (ReadsCodes(transaction.graph(), f, f.nodes[i])) Split(transaction, fn, f.nodes[i].id);
    }
  }
  return {};
}

}  // namespace ge
