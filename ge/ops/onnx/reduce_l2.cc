#include "ge/ops/families/reduction.h"

namespace ge {

// The root of the sum of squares along axes.
GE_OP(reduce_l2) = Reduction("ReduceL2", 18,
                             kFloats | kIndex | Bit(DType::kUint32) | Bit(DType::kUint64));

}  // namespace ge
