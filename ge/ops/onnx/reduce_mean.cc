#include "ge/ops/families/reduction.h"

namespace ge {

// The mean along axes.
GE_OP(reduce_mean) = Reduction("ReduceMean", 18,
                               kFloats | kIndex | Bit(DType::kUint32) | Bit(DType::kUint64));

}  // namespace ge
