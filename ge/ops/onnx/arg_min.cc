#include "ge/ops/families/arg_reduction.h"

namespace ge {

// The place of the least element along one axis: the first, or with select_last_index the last.
GE_OP(arg_min) = ArgReduction("ArgMin");

}  // namespace ge
