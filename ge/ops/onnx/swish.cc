#include "ge/ops/decompose.h"
#include "ge/ops/elementwise.h"
#include "ge/ops/finite_attrs.h"

namespace ge {
namespace {

Status InferSwish(InferContext& c) {
  GE_RETURN_IF_ERROR(WantFinite(c.node(), {"alpha"}));
  return InferSame(c);
}

// x * sigmoid(alpha * x).
std::vector<ValueId> DecomposeSwish(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const DType wanted = p.TypeOf(node.inputs[0]).dtype, step = StepDType(wanted);
  const ValueId x = p.Cast(node.inputs[0], step);
  const Type type = p.TypeOf(x);
  const double alpha = AttrFloat(node, "alpha");
  const ValueId scaled = alpha == 1 ? x : p.Add("Mul", {x, p.Scalar(step, alpha)}, type);
  return {p.Cast(p.Add("Mul", {x, p.Add("Sigmoid", {scaled}, type)}, type), wanted)};
}

OpDef SwishRecord() {
  OpDef op = Unary<12>("Swish", 24, kFloats, "X", "Y");
  op.attrs = {{"alpha", AttrKind::kFloat, 1.0f}};
  op.infer = InferSwish;
  op.decompose = DecomposeSwish;
  return op;
}

}  // namespace

// x * sigmoid(alpha * x).
GE_OP(swish) = SwishRecord();

}  // namespace ge
