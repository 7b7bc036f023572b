#include "ge/ops/families/cumulation.h"

namespace ge {

// The running sum along one axis, from its other end when reversed, without the element itself
// when exclusive.
GE_OP(cum_sum) = Cumulation("CumSum", 14);

}  // namespace ge
