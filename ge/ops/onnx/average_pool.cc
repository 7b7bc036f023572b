#include "ge/ops/families/pooling.h"

namespace ge {

// The mean of each window; count_include_pad counts the padding too.
GE_OP(average_pool) = {"",
                       "AveragePool",
                       22,
                       {{"X", kFloats, "T"}},
                       {{"Y", kFloats, "T"}},
                       PoolAttrs({"count_include_pad", AttrKind::kInt, 0}),
                       InferPool,
                       PoolWork};

}  // namespace ge
