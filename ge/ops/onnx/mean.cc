#include "ge/ops/decompose.h"
#include "ge/ops/elementwise.h"

namespace ge {
namespace {

Status InferMean(InferContext& c) { return InferBroadcast(c); }

// Tensors of one shape: their sum times 1 / n. 16-bit floats would be rounded after each.
std::vector<ValueId> DecomposeMean(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const Type type = p.TypeOf(node.outputs[0]);
  if (node.inputs.size() < 2 || type.dtype != StepDType(type.dtype)) return {};
  for (const ValueId v : node.inputs) {
    if (p.TypeOf(v).dims != type.dims) return {};
  }
  ValueId sum = node.inputs[0];
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    sum = p.Add("Add", {sum, node.inputs[i]}, type);
  }
  const ValueId share = p.Scalar(type.dtype, 1.0 / static_cast<double>(node.inputs.size()));
  return {p.Add("Mul", {sum, share}, type)};
}

OpDef MeanRecord() {
  OpDef op{"", "Mean", 13, {{"data_0", kFloats, "T", Arity::kVariadic}}, {}, {}, InferMean};
  op.outputs = {{"mean", kFloats, "T"}};
  op.work = PerOutputAndInput;
  op.decompose = DecomposeMean;
  return op;
}

}  // namespace

// The mean of any number of tensors, with broadcasting.
GE_OP(mean) = MeanRecord();

}  // namespace ge
