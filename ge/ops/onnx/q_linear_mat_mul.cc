#include "ge/ops/onnx/mat_mul.h"

namespace ge {
namespace {

Status InferQLinearMatMul(InferContext& c) {
  GE_RETURN_IF_ERROR(WantOneOrLines(c, 1, "a_scale", c.input_type(0), true));
  GE_RETURN_IF_ERROR(WantOneOrLines(c, 2, "a_zero_point", c.input_type(0), true));
  GE_RETURN_IF_ERROR(WantOneOrLines(c, 4, "b_scale", c.input_type(3), false));
  GE_RETURN_IF_ERROR(WantOneOrLines(c, 5, "b_zero_point", c.input_type(3), false));
  return InferMatrixProduct(c, 3, c.input_type(7).dtype, "a", "b");
}

OpDef QLinearMatMulRecord() {
  constexpr DTypeSet kCode = Bit(DType::kInt8) | Bit(DType::kUint8) | kFloat8s;
  constexpr DTypeSet kScale = Bit(DType::kFloat) | Bit(DType::kFloat16) | Bit(DType::kBfloat16);
  OpDef op{"",
           "QLinearMatMul",
           21,
           {},
           {{"y", kCode, "T3"}},
           {},
           InferQLinearMatMul,
           EffortMatrixProduct};
  op.inputs = {
      {"a", kCode, "T1"},        {"a_scale", kScale, "TS"},    {"a_zero_point", kCode, "T1"},
      {"b", kCode, "T2"},        {"b_scale", kScale, "TS"},    {"b_zero_point", kCode, "T2"},
      {"y_scale", kScale, "TS"}, {"y_zero_point", kCode, "T3"}};
  return op;
}

}  // namespace

// Product of quantized matrices: dequantized, multiplied and quantized again.
GE_OP(q_linear_mat_mul) = QLinearMatMulRecord();

}  // namespace ge
