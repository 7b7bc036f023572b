#include "ge/ops/families/reduction.h"

namespace ge {

// The sum of squares along axes.
GE_OP(reduce_sum_square) = Reduction("ReduceSumSquare", 18,
                                     kFloats | kIndex | Bit(DType::kUint32) | Bit(DType::kUint64));

}  // namespace ge
