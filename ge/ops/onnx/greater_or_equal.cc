#include "ge/ops/compare_dims.h"
#include "ge/ops/decompose.h"
#include "ge/ops/elementwise.h"

namespace ge {
namespace {

std::optional<Dim> FoldGreaterOrEqual(DimTable& d, Dim a, Dim b) {
  return NotDim(LessDim(d, a, b));
}

Status InferGreaterOrEqual(InferContext& c) {
  return InferFolded(c, FoldGreaterOrEqual, DType::kBool);
}

// Greater or Equal: both are false of a NaN, which the opposite of the reverse would not be.
std::vector<ValueId> DecomposeGreaterOrEqual(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const Type type = p.TypeOf(node.outputs[0]);
  const ValueId strict = p.Add("Greater", {node.inputs[0], node.inputs[1]}, type);
  const ValueId equal = p.Add("Equal", {node.inputs[0], node.inputs[1]}, type);
  return {p.Add("Or", {strict, equal}, type)};
}

OpDef GreaterOrEqualRecord() {
  OpDef op = Binary("GreaterOrEqual", 16, kNumeric, InferGreaterOrEqual, Bit(DType::kBool));
  op.decompose = DecomposeGreaterOrEqual;
  return op;
}

}  // namespace

// a >= b with broadcasting.
GE_OP(greater_or_equal) = GreaterOrEqualRecord();

}  // namespace ge
