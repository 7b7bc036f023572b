#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

Status InferBiasSplitGelu(InferContext& c) {
  const Type& x = c.input_type(0);
  GE_RETURN_IF_ERROR(WantRankOf(c, 0, "X", 3, 3));
  if (!x.ranked) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  std::vector<Dim> dims = x.dims;
  GE_RETURN_IF_ERROR(WantVector(c, 1, "bias", dims[2]));
  if (dims[2].known() && dims[2].value % 2 != 0) {
    return Bad(c.node(), fmt::format("input 'X' has shape {}, wanted an even last axis: it is cut "
                                     "in halves",
                                     Show(c.dims(), dims)));
  }
  GE_ASSIGN_OR_RETURN(
      dims[2], Checked(c.node(), c.dims().FloorDiv(dims[2], KnownDim(2)), "half the last axis"));
  return SetTensor(c, 0, x.dtype, std::move(dims));
}

std::vector<ValueId> DecomposeBiasSplitGelu(Transaction& t, FunctionId fn, const Node& node) {
  if (!Steps::Ready(t, fn, node)) return {};
  Steps s(t, fn, node);
  const DType wanted = s.DTypeOf(s.In(0)), step = StepDType(wanted);
  const ValueId sum = s.PairIf("Add", s.Cast(s.In(0), step), s.In(1));
  const int64_t size = s.Size(sum, 2);
  const ValueId left = s.Slice(sum, 2, 0, size / 2);
  const ValueId right = s.Map("Gelu", {s.Slice(sum, 2, size / 2, size)});
  return {s.Cast(s.Pair("Mul", left, right), wanted)};
}

OpDef BiasSplitGeluRecord() {
  OpDef op = MicrosoftRecord("BiasSplitGelu", InferBiasSplitGelu, DecomposeBiasSplitGelu);
  op.inputs = {{"X", kFloats, "T"}, {"bias", kFloats, "T"}};
  op.outputs = {{"Y", kFloats, "T"}};
  return op;
}

}  // namespace

// The left half of X + bias times Gelu of its right half, halves of the last axis.
GE_OP(microsoft_bias_split_gelu) = BiasSplitGeluRecord();

}  // namespace ge
