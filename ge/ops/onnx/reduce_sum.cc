#include "ge/ops/families/folded_reduction.h"

namespace ge {
namespace {

Status InferReduceSum(InferContext& c) {
  return InferFoldedReduction(c, [](DimTable& d, Dim a, Dim b) { return d.Add(a, b); });
}

}  // namespace

// The sum along axes.
GE_OP(reduce_sum) = FoldedReduction("ReduceSum", 13,
                                    kFloats | kIndex | Bit(DType::kUint32) | Bit(DType::kUint64),
                                    InferReduceSum);

}  // namespace ge
