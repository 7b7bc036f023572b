#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

Status InferBiasAdd(InferContext& c) {
  const Type& x = c.input_type(0);
  GE_RETURN_IF_ERROR(WantRankOf(c, 0, "X", 3, 3));
  if (x.ranked) {
    GE_RETURN_IF_ERROR(WantVector(c, 1, "bias", x.dims[2]));
    GE_RETURN_IF_ERROR(WantShape(c, 2, "skip", x.dims));
  }
  return InferSame(c);
}

std::vector<ValueId> DecomposeBiasAdd(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const DType wanted = p.TypeOf(node.inputs[0]).dtype, step = StepDType(wanted);
  ValueId sum = p.Cast(node.inputs[0], step);
  const Type type = p.TypeOf(sum);
  for (size_t i = 1; i < 3; ++i) {
    sum = p.Add("Add", {sum, p.Cast(node.inputs[i], step)}, type);
  }
  return {p.Cast(sum, wanted)};
}

OpDef BiasAddRecord() {
  OpDef op = MicrosoftRecord("BiasAdd", InferBiasAdd, DecomposeBiasAdd);
  op.inputs = {{"X", kFloats, "T"}, {"bias", kFloats, "T"}, {"skip", kFloats, "T"}};
  op.outputs = {{"Y", kFloats, "T"}};
  return op;
}

}  // namespace

// X + bias + skip, bias a vector over the last axis.
GE_OP(microsoft_bias_add) = BiasAddRecord();

}  // namespace ge
