#include "ge/ops/onnx/mat_mul.h"

namespace ge {
namespace {

Status InferMatMul(InferContext& c) { return InferMatrixProduct(c, 1, c.input_type(0).dtype); }

constexpr DTypeSet kTypesMatMul = kFloats | kIndex | Bit(DType::kUint32) | Bit(DType::kUint64);

}  // namespace

// Matrix products with numpy's rules for vectors and for broadcast batches.
GE_OP(mat_mul) = {"",
                  "MatMul",
                  13,
                  {{"A", kTypesMatMul, "T"}, {"B", kTypesMatMul, "T"}},
                  {{"Y", kTypesMatMul, "T"}},
                  {},
                  InferMatMul,
                  EffortMatrixProduct};

}  // namespace ge
