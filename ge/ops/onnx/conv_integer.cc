#include "ge/ops/onnx/conv.h"

namespace ge {
namespace {

constexpr DTypeSet kTypesConvInteger = Bit(DType::kInt8) | Bit(DType::kUint8);

Status InferConvInteger(InferContext& c) {
  ConvPorts ports;
  ports.bias = 0;
  ports.x_name = "x";
  ports.w_name = "w";
  if (c.input_count() > 2 && c.has_input(2)) GE_RETURN_IF_ERROR(WantOneOrFilters(c, 2, "x", {}));
  if (c.input_count() > 3 && c.has_input(3)) {
    GE_RETURN_IF_ERROR(WantOneOrFilters(c, 3, "w", c.input_type(1)));
  }
  return InferConvolution(c, ports, DType::kInt32);
}

OpDef ConvIntegerRecord() {
  OpDef op{"",
           "ConvInteger",
           10,
           {},
           {{"y", Bit(DType::kInt32), "T3"}},
           {},
           InferConvInteger,
           EffortConvolution<1>};
  op.inputs = {{"x", kTypesConvInteger, "T1"},
               {"w", kTypesConvInteger, "T2"},
               {"x_zero_point", kTypesConvInteger, "T1", Arity::kOptional},
               {"w_zero_point", kTypesConvInteger, "T2", Arity::kOptional}};
  op.attrs = ConvAttrs();
  return op;
}

}  // namespace

// Convolution of x - its zero point with w - its zero point, in int32.
GE_OP(conv_integer) = ConvIntegerRecord();

}  // namespace ge
