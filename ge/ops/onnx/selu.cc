#include "ge/ops/decompose.h"
#include "ge/ops/elementwise.h"
#include "ge/ops/finite_attrs.h"

namespace ge {
namespace {

Status InferSelu(InferContext& c) {
  GE_RETURN_IF_ERROR(WantFinite(c.node(), {"alpha", "gamma"}));
  return InferSame(c);
}

// gamma * Elu(x).
std::vector<ValueId> DecomposeSelu(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const DType wanted = p.TypeOf(node.inputs[0]).dtype, step = StepDType(wanted);
  const ValueId x = p.Cast(node.inputs[0], step);
  const Type type = p.TypeOf(x);
  const ValueId y = p.Add("Elu", {x}, type, {{"alpha", AttrFloat(node, "alpha", 1.6732632f)}});
  const ValueId gamma = p.Scalar(step, AttrFloat(node, "gamma", 1.050701f));
  return {p.Cast(p.Add("Mul", {y, gamma}, type), wanted)};
}

OpDef SeluRecord() {
  OpDef op = Unary<12>("Selu", 22, kFloats, "X", "Y");
  op.attrs = {{"alpha", AttrKind::kFloat, 1.6732632f}, {"gamma", AttrKind::kFloat, 1.050701f}};
  op.infer = InferSelu;
  op.decompose = DecomposeSelu;
  return op;
}

}  // namespace

// gamma * x, or gamma * alpha * (e^x - 1) where x is not positive.
GE_OP(selu) = SeluRecord();

}  // namespace ge
