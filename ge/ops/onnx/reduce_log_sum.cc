#include "ge/ops/families/reduction.h"

namespace ge {

// The logarithm of the sum along axes; of no elements, -infinity. Integers were taken until
// opset 27.
GE_OP(reduce_log_sum) = Reduction("ReduceLogSum", 28,
                                  kFloats | kIndex | Bit(DType::kUint32) | Bit(DType::kUint64));

}  // namespace ge
