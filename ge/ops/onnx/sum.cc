#include "ge/ops/decompose.h"
#include "ge/ops/elementwise.h"

namespace ge {
namespace {

Status InferSum(InferContext& c) { return InferBroadcast(c); }

// Two are one Add. More would be rounded after each, which 16-bit floats show: they stay whole.
std::vector<ValueId> DecomposeSum(Transaction& t, FunctionId fn, const Node& node) {
  if (node.inputs.size() != 2) return {};
  Parts p(&t, fn, node);
  return {p.Add("Add", {node.inputs[0], node.inputs[1]}, p.TypeOf(node.outputs[0]))};
}

OpDef SumRecord() {
  OpDef op{"", "Sum", 13, {{"data_0", kFloats, "T", Arity::kVariadic}}, {}, {}, InferSum};
  op.outputs = {{"sum", kFloats, "T"}};
  op.work = PerOutputAndInput;
  op.decompose = DecomposeSum;
  return op;
}

}  // namespace

// The sum of any number of tensors, with broadcasting.
GE_OP(sum) = SumRecord();

}  // namespace ge
