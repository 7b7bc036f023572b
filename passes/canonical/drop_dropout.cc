#include "passes/canonical/drop_dropout.h"

namespace ge {
namespace {

// Input 2 says whether the node trains; only an absent or constant false one is inference for sure.
bool Infers(const Graph& g, const Function& f, const Node& n) {
  if (n.inputs.size() < 3 || !n.inputs[2]) return true;
  const ConstId id = f.value(n.inputs[2]).constant;
  if (!id || g.consts[id].type.dtype != DType::kBool) return false;
  ConstScratch scratch;
  const std::byte* data = ConstBytes(g.consts[id], &scratch);
  return data && ElementCount(g.consts[id].type) == 1 && data[0] == std::byte{0};
}

}  // namespace

Status DropDropout::Run(Transaction& transaction, const PassContext&) {
  for (FunctionId fn = 1; fn < transaction.graph().functions.size(); ++fn) {
    const size_t count = transaction.graph().fn(fn).nodes.size();
    for (size_t i = 0; i < count; ++i) {
      const Function& f = transaction.graph().fn(fn);
      const Node& n = f.nodes[i];
      if (!n.id || !n.domain.empty() || n.op != "Dropout" || n.inputs.empty()) continue;
      if (n.outputs.empty() || !n.outputs[0] || !n.inputs[0] || !Infers(transaction.graph(), f, n))
        continue;
      const ValueId mask = n.outputs.size() > 1 ? n.outputs[1] : 0;
      if (mask && (!transaction.Readers(fn, mask).empty() || transaction.IsResult(fn, mask)))
        continue;
      if (!transaction.CanReplace(fn, n.outputs[0], n.inputs[0])) continue;
      const Node* producer = transaction.Producer(fn, n.inputs[0]);
      if (producer) transaction.AddOrigin(fn, producer->id, n);
      transaction.ReplaceUses(fn, n.outputs[0], n.inputs[0]);
      transaction.Erase(fn, n.id);
    }
  }
  return {};
}

}  // namespace ge
