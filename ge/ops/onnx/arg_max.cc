#include "ge/ops/families/arg_reduction.h"

namespace ge {

// The place of the largest element along one axis: the first, or with select_last_index the last.
GE_OP(arg_max) = ArgReduction("ArgMax");

}  // namespace ge
