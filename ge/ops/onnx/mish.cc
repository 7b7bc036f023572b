#include "ge/ops/decompose.h"
#include "ge/ops/elementwise.h"

namespace ge {
namespace {

// x * tanh(softplus(x)).
std::vector<ValueId> DecomposeMish(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const DType wanted = p.TypeOf(node.inputs[0]).dtype, step = StepDType(wanted);
  const ValueId x = p.Cast(node.inputs[0], step);
  const Type type = p.TypeOf(x);
  const ValueId share = p.Add("Tanh", {p.Add("Softplus", {x}, type)}, type);
  return {p.Cast(p.Add("Mul", {x, share}, type), wanted)};
}

OpDef MishRecord() {
  OpDef op = Unary<35>("Mish", 22, kFloats, "X", "Y");
  op.decompose = DecomposeMish;
  return op;
}

}  // namespace

// x * tanh(ln(1 + e^x)).
GE_OP(mish) = MishRecord();

}  // namespace ge
