#include "ge/ops/compare_dims.h"
#include "ge/ops/decompose.h"
#include "ge/ops/elementwise.h"

namespace ge {
namespace {

std::optional<Dim> FoldLessOrEqual(DimTable& d, Dim a, Dim b) { return NotDim(LessDim(d, b, a)); }

Status InferLessOrEqual(InferContext& c) { return InferFolded(c, FoldLessOrEqual, DType::kBool); }

// Less or Equal: both are false of a NaN, which the opposite of the reverse would not be.
std::vector<ValueId> DecomposeLessOrEqual(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const Type type = p.TypeOf(node.outputs[0]);
  const ValueId strict = p.Add("Less", {node.inputs[0], node.inputs[1]}, type);
  const ValueId equal = p.Add("Equal", {node.inputs[0], node.inputs[1]}, type);
  return {p.Add("Or", {strict, equal}, type)};
}

OpDef LessOrEqualRecord() {
  OpDef op = Binary("LessOrEqual", 16, kNumeric, InferLessOrEqual, Bit(DType::kBool));
  op.decompose = DecomposeLessOrEqual;
  return op;
}

}  // namespace

// a <= b with broadcasting.
GE_OP(less_or_equal) = LessOrEqualRecord();

}  // namespace ge
