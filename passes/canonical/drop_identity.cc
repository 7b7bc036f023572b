#include "passes/canonical/drop_identity.h"

namespace ge {

Status DropIdentity::Run(Transaction& t, const PassContext&) {
  for (FunctionId fn = 1; fn < t.graph().functions.size(); ++fn) {
    const size_t count = t.graph().fn(fn).nodes.size();
    for (size_t i = 0; i < count; ++i) {
      const Node& n = t.graph().fn(fn).nodes[i];
      const bool identity = n.id && n.domain.empty() && n.op == "Identity" && n.effects.empty();
      if (!identity || n.inputs.size() != 1 || n.outputs.size() != 1) continue;
      if (!n.inputs[0] || !n.outputs[0] || !t.CanReplace(fn, n.outputs[0], n.inputs[0])) continue;
      const Node* producer = t.Producer(fn, n.inputs[0]);
      if (producer) t.AddOrigin(fn, producer->id, n);
      t.ReplaceUses(fn, n.outputs[0], n.inputs[0]);
      t.Erase(fn, n.id);
    }
  }
  return {};
}

}  // namespace ge
