#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

Status InferQuickGelu(InferContext& c) {
  GE_RETURN_IF_ERROR(WantFiniteAttr(c.node(), "alpha"));
  return InferSame(c);
}

std::vector<ValueId> DecomposeQuickGelu(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  return {p.Add("Swish", {node.inputs[0]}, p.TypeOf(node.inputs[0]),
                {{"alpha", AttrFloat(node, "alpha")}})};
}

OpDef QuickGeluRecord() {
  OpDef op = MicrosoftRecord("QuickGelu", InferQuickGelu, DecomposeQuickGelu);
  op.inputs = {{"X", kFloats, "T"}};
  op.outputs = {{"Y", kFloats, "T"}};
  op.attrs = {{"alpha", AttrKind::kFloat, 1.702f}};
  return op;
}

}  // namespace

// x * sigmoid(alpha * x), which with the default alpha is near Gelu.
GE_OP(microsoft_quick_gelu) = QuickGeluRecord();

}  // namespace ge
