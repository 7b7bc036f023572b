#include "ge/ops/onnx/conv.h"

namespace ge {
namespace {

constexpr DTypeSet kTypesQLinearConv = Bit(DType::kInt8) | Bit(DType::kUint8);

Status InferQLinearConv(InferContext& c) {
  GE_RETURN_IF_ERROR(WantOneOrFilters(c, 1, "x", {}));
  GE_RETURN_IF_ERROR(WantOneOrFilters(c, 2, "x", {}));
  GE_RETURN_IF_ERROR(WantOneOrFilters(c, 4, "w", c.input_type(3)));
  GE_RETURN_IF_ERROR(WantOneOrFilters(c, 5, "w", c.input_type(3)));
  GE_RETURN_IF_ERROR(WantOneOrFilters(c, 6, "y", {}));
  GE_RETURN_IF_ERROR(WantOneOrFilters(c, 7, "y", {}));
  return InferConvolution(c, {0, 3, 8, "x", "w"}, c.input_type(7).dtype);
}

OpDef QLinearConvRecord() {
  constexpr DTypeSet kScale = Bit(DType::kFloat);
  OpDef op{"",
           "QLinearConv",
           10,
           {},
           {{"y", kTypesQLinearConv, "T3"}},
           {},
           InferQLinearConv,
           EffortConvolution<3>};
  op.inputs = {{"x", kTypesQLinearConv, "T1"},
               {"x_scale", kScale},
               {"x_zero_point", kTypesQLinearConv, "T1"},
               {"w", kTypesQLinearConv, "T2"},
               {"w_scale", kScale},
               {"w_zero_point", kTypesQLinearConv, "T2"},
               {"y_scale", kScale},
               {"y_zero_point", kTypesQLinearConv, "T3"},
               {"B", Bit(DType::kInt32), "T4", Arity::kOptional}};
  op.attrs = ConvAttrs();
  return op;
}

}  // namespace

// Convolution of quantized tensors: dequantized, convolved and quantized again.
GE_OP(q_linear_conv) = QLinearConvRecord();

}  // namespace ge
