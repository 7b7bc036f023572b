#include "ge/ops/families/pooling.h"

namespace ge {

// The mean over all spatial axes.
GE_OP(global_average_pool) = {
    "", "GlobalAveragePool", 22,         {{"X", kFloats, "T"}}, {{"Y", kFloats, "T"}},
    {}, InferGlobalPool,     PerInput<1>};

}  // namespace ge
