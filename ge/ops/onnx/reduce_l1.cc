#include "ge/ops/families/reduction.h"

namespace ge {

// The sum of magnitudes along axes.
GE_OP(reduce_l1) = Reduction("ReduceL1", 18,
                             kFloats | kIndex | Bit(DType::kUint32) | Bit(DType::kUint64));

}  // namespace ge
