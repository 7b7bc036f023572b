#include "ge/ops/reduction.h"

namespace ge {

// The least along axes; of no elements, the greatest value of the dtype.
GE_OP(reduce_min) = Reduction("ReduceMin", 20,
                              kFloats | kIndex | Bit(DType::kUint32) | Bit(DType::kUint64) |
                                  Bit(DType::kInt8) | Bit(DType::kUint8) | Bit(DType::kBool));

}  // namespace ge
