#include "passes/fold/fold_shapes.h"

#include "ge/ops/known_const.h"
#include "passes/purity.h"

namespace ge {
namespace {

void FoldNode(Transaction& t, FunctionId fn, size_t index) {
  const std::vector<ValueId> outputs = t.graph().fn(fn).nodes[index].outputs;
  const NodeId id = t.graph().fn(fn).nodes[index].id;
  bool all = true;
  for (ValueId v : outputs) {
    if (!v) continue;
    std::optional<Const> c = KnownConst(t.graph().fn(fn).value(v));
    const bool read = t.IsResult(fn, v) || !t.Readers(fn, v).empty();
    if (c && read) {
      t.ReplaceUses(fn, v, t.AddConst(fn, std::move(*c)));
    } else if (read) {
      all = false;
    }
  }
  if (all) t.Erase(fn, id);
}

}  // namespace

Status FoldShapes::Run(Transaction& transaction, const PassContext&) {
  for (FunctionId fn = 1; fn < transaction.graph().functions.size(); ++fn) {
    const size_t count = transaction.graph().fn(fn).nodes.size();
    for (size_t i = 0; i < count; ++i) {
      const Function& f = transaction.graph().fn(fn);
      const Node& n = f.nodes[i];
      bool any = false;
      for (ValueId v : n.outputs) any |= v && f.value(v).ints.has_value();
      if (n.id && any && IsPure(transaction.graph(), n)) FoldNode(transaction, fn, i);
    }
  }
  return {};
}

}  // namespace ge
