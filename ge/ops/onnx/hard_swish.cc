#include "ge/ops/decompose.h"
#include "ge/ops/elementwise.h"

namespace ge {
namespace {

// x * HardSigmoid(x) with slope 1/6 and offset 1/2.
std::vector<ValueId> DecomposeHardSwish(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const DType wanted = p.TypeOf(node.inputs[0]).dtype, step = StepDType(wanted);
  const ValueId x = p.Cast(node.inputs[0], step);
  const Type type = p.TypeOf(x);
  const ValueId share = p.Add("HardSigmoid", {x}, type, {{"alpha", 1.0 / 6}, {"beta", 0.5}});
  return {p.Cast(p.Add("Mul", {x, share}, type), wanted)};
}

OpDef HardSwishRecord() {
  OpDef op = Unary<5>("HardSwish", 22, kFloats, "X", "Y");
  op.decompose = DecomposeHardSwish;
  return op;
}

}  // namespace

// x * max(0, min(1, x / 6 + 1/2)).
GE_OP(hard_swish) = HardSwishRecord();

}  // namespace ge
