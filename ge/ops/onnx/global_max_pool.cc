#include "ge/ops/families/pooling.h"

namespace ge {

// The largest over all spatial axes.
GE_OP(global_max_pool) = {
    "", "GlobalMaxPool", 22,         {{"X", kFloats, "T"}}, {{"Y", kFloats, "T"}},
    {}, InferGlobalPool, PerInput<1>};

}  // namespace ge
