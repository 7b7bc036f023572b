#include "ge/ops/reduction.h"

namespace ge {

// The sum along axes.
GE_OP(reduce_sum) = Reduction("ReduceSum", 13,
                              kFloats | kIndex | Bit(DType::kUint32) | Bit(DType::kUint64));

}  // namespace ge
