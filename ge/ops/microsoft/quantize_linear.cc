#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"
#include "ge/ops/onnx/quantize_grid.h"

namespace ge {
namespace {

Status InferQuantizeLinearMs(InferContext& c) {
  GE_RETURN_IF_ERROR(CheckQuantizeGrid(c));
  SetAs(c, 0, 0, HasInput(c, 2) ? c.input_type(2).dtype : DType::kUint8);
  return {};
}

// ONNX's own operator, which learnt 16 and 4 bits later.
std::vector<ValueId> DecomposeQuantizeLinearMs(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  return {p.Add("QuantizeLinear", node.inputs, p.TypeOf(node.outputs[0]),
                {{"axis", AttrInt(node, "axis")}})};
}

OpDef QuantizeLinearMsRecord() {
  OpDef op = MicrosoftRecord("QuantizeLinear", InferQuantizeLinearMs, DecomposeQuantizeLinearMs);
  constexpr DTypeSet kCodes =
      kBytes | Bit(DType::kInt16) | Bit(DType::kUint16) | Bit(DType::kInt4) | Bit(DType::kUint4);
  op.inputs = {{"x", kShortFloats, "T1"},
               {"y_scale", kShortFloats, "T1"},
               {"y_zero_point", kCodes, "T2", Arity::kOptional}};
  op.outputs = {{"y", kCodes, "T2"}};
  op.attrs = {{"axis", AttrKind::kInt, 1}};
  return op;
}

}  // namespace

// y = saturate(round(x / scale) + zero point), in a narrow dtype.
GE_OP(microsoft_quantize_linear) = QuantizeLinearMsRecord();

}  // namespace ge
