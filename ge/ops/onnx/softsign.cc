#include "ge/ops/decompose.h"
#include "ge/ops/elementwise.h"

namespace ge {
namespace {

// x / (1 + |x|).
std::vector<ValueId> DecomposeSoftsign(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const DType wanted = p.TypeOf(node.inputs[0]).dtype, step = StepDType(wanted);
  const ValueId x = p.Cast(node.inputs[0], step);
  const Type type = p.TypeOf(x);
  const ValueId below = p.Add("Add", {p.Add("Abs", {x}, type), p.Scalar(step, 1)}, type);
  return {p.Cast(p.Add("Div", {x, below}, type), wanted)};
}

OpDef SoftsignRecord() {
  OpDef op = Unary<3>("Softsign", 22, kFloats, "input", "output");
  op.decompose = DecomposeSoftsign;
  return op;
}

}  // namespace

// x / (1 + |x|).
GE_OP(softsign) = SoftsignRecord();

}  // namespace ge
