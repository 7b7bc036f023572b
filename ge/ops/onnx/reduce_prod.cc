#include "ge/ops/families/folded_reduction.h"

namespace ge {
namespace {

Status InferReduceProd(InferContext& c) {
  return InferFoldedReduction(c, [](DimTable& d, Dim a, Dim b) { return d.Mul(a, b); });
}

}  // namespace

// The product along axes; of no elements, 1.
GE_OP(reduce_prod) = FoldedReduction("ReduceProd", 18,
                                     kFloats | kIndex | Bit(DType::kUint32) | Bit(DType::kUint64),
                                     InferReduceProd);

}  // namespace ge
