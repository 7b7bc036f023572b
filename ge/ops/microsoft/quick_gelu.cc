#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

Status InferQuickGelu(InferContext& c) {
  GE_RETURN_IF_ERROR(WantFiniteAttr(c.node(), "alpha"));
  return InferSame(c);
}

// Not as a Swish: engines take these parts, and a part is not taken apart again.
std::vector<ValueId> DecomposeQuickGelu(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const DType wanted = p.TypeOf(node.inputs[0]).dtype, step = StepDType(wanted);
  const ValueId x = p.Cast(node.inputs[0], step);
  const Type type = p.TypeOf(x);
  const ValueId scaled = p.Add("Mul", {x, p.Scalar(step, AttrFloat(node, "alpha"))}, type);
  return {p.Cast(p.Add("Mul", {x, p.Add("Sigmoid", {scaled}, type)}, type), wanted)};
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
