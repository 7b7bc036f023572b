#include "ge/ops/reduction.h"

namespace ge {

// The product along axes; of no elements, 1.
GE_OP(reduce_prod) = Reduction("ReduceProd", 18,
                               kFloats | kIndex | Bit(DType::kUint32) | Bit(DType::kUint64));

}  // namespace ge
