#include "passes/canonical/cast_texts_in_two.h"

#include <optional>

namespace ge {
namespace {

bool IsNarrow(DType dtype) { return IsFloat(dtype) && DTypeBits(dtype) < 32; }

// The type on the way; none where the cast is done at once.
std::optional<DType> Between(const Function& f, const Node& n) {
  const bool casts = n.domain.empty() && (n.op == "Cast" || n.op == "CastLike");
  if (!casts || n.inputs.empty() || !n.inputs[0] || n.outputs.empty() || !n.outputs[0]) return {};
  const Type &from = f.value(n.inputs[0]).type, &to = f.value(n.outputs[0]).type;
  if (!from.is_tensor() || !to.is_tensor()) return {};
  if (from.dtype == DType::kString && IsNarrow(to.dtype)) return DType::kDouble;
  if (IsNarrow(from.dtype) && to.dtype == DType::kString) return DType::kFloat;
  return {};
}

}  // namespace

Status CastTextsInTwo::Run(Transaction& transaction, const PassContext&) {
  const Graph& g = transaction.graph();
  for (FunctionId fn = 1; fn < g.functions.size(); ++fn) {
    const size_t count = g.fn(fn).nodes.size();
    for (size_t i = 0; i < count; ++i) {
      const std::optional<DType> between = Between(g.fn(fn), g.fn(fn).nodes[i]);
      if (!between) continue;
      const Node n = g.fn(fn).nodes[i];  // a copy: edits move nodes
      Type type = g.fn(fn).value(n.inputs[0]).type;
      type.dtype = *between;
      const std::vector<ValueId> wide =
          transaction.AddNode(fn, n.id, "", "Cast", {n.inputs[0]},
                              {Attr{"to", static_cast<int64_t>(*between)}}, {type}, {&n});
      transaction.SetInput(fn, n.id, 0, wide[0]);
    }
  }
  return {};
}

}  // namespace ge
