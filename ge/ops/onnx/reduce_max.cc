#include "ge/ops/families/folded_reduction.h"

namespace ge {
namespace {

Status InferReduceMax(InferContext& c) {
  return InferFoldedReduction(c, [](DimTable& d, Dim a, Dim b) { return d.Max(a, b); });
}

}  // namespace

// The largest along axes; of no elements, the least value of the dtype.
GE_OP(reduce_max) = FoldedReduction("ReduceMax", 20,
                                    kFloats | kIndex | Bit(DType::kUint32) | Bit(DType::kUint64) |
                                        Bit(DType::kInt8) | Bit(DType::kUint8) | Bit(DType::kBool),
                                    InferReduceMax);

}  // namespace ge
