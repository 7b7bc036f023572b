#include "ge/ops/onnx/mat_mul.h"

namespace ge {
namespace {

constexpr DTypeSet kTypesMatMulInteger = Bit(DType::kInt8) | Bit(DType::kUint8);

Status InferMatMulInteger(InferContext& c) {
  if (c.input_count() > 2 && c.has_input(2)) {
    GE_RETURN_IF_ERROR(WantOneOrLines(c, 2, "a_zero_point", c.input_type(0), true));
  }
  if (c.input_count() > 3 && c.has_input(3)) {
    GE_RETURN_IF_ERROR(WantOneOrLines(c, 3, "b_zero_point", c.input_type(1), false));
  }
  return InferMatrixProduct(c, 1, DType::kInt32);
}

OpDef MatMulIntegerRecord() {
  OpDef op{"",
           "MatMulInteger",
           10,
           {},
           {{"Y", Bit(DType::kInt32), "T3"}},
           {},
           InferMatMulInteger,
           EffortMatrixProduct};
  op.inputs = {{"A", kTypesMatMulInteger, "T1"},
               {"B", kTypesMatMulInteger, "T2"},
               {"a_zero_point", kTypesMatMulInteger, "T1", Arity::kOptional},
               {"b_zero_point", kTypesMatMulInteger, "T2", Arity::kOptional}};
  return op;
}

}  // namespace

// Product of A - its zero points with B - its zero points, in int32.
GE_OP(mat_mul_integer) = MatMulIntegerRecord();

}  // namespace ge
