#include "ge/ops/families/folded_reduction.h"

namespace ge {
namespace {

Status InferReduceMin(InferContext& c) {
  return InferFoldedReduction(c, [](DimTable& d, Dim a, Dim b) { return d.Min(a, b); });
}

}  // namespace

// The least along axes; of no elements, the greatest value of the dtype.
GE_OP(reduce_min) = FoldedReduction("ReduceMin", 20,
                                    kFloats | kIndex | Bit(DType::kUint32) | Bit(DType::kUint64) |
                                        Bit(DType::kInt8) | Bit(DType::kUint8) | Bit(DType::kBool),
                                    InferReduceMin);

}  // namespace ge
