#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"
#include "ge/ops/onnx/quantize_grid.h"

namespace ge {
namespace {

Status InferDequantizeLinearMs(InferContext& c) {
  GE_RETURN_IF_ERROR(CheckQuantizeGrid(c));
  SetAs(c, 0, 0, c.input_type(1).dtype);
  return {};
}

// ONNX's own operator, which learnt 16 and 4 bits later.
std::vector<ValueId> DecomposeDequantizeLinearMs(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  return {p.Add("DequantizeLinear", node.inputs, p.TypeOf(node.outputs[0]),
                {{"axis", AttrInt(node, "axis")}})};
}

OpDef DequantizeLinearMsRecord() {
  OpDef op =
      MicrosoftRecord("DequantizeLinear", InferDequantizeLinearMs, DecomposeDequantizeLinearMs);
  constexpr DTypeSet kCodes = kBytes | Bit(DType::kInt16) | Bit(DType::kUint16) |
                              Bit(DType::kInt32) | Bit(DType::kInt4) | Bit(DType::kUint4);
  op.inputs = {{"x", kCodes, "T1"},
               {"x_scale", kShortFloats, "T2"},
               {"x_zero_point", kCodes, "T1", Arity::kOptional}};
  op.outputs = {{"y", kShortFloats, "T2"}};
  op.attrs = {{"axis", AttrKind::kInt, 1}};
  return op;
}

}  // namespace

// y = (x - zero point) * scale.
GE_OP(microsoft_dequantize_linear) = DequantizeLinearMsRecord();

}  // namespace ge
