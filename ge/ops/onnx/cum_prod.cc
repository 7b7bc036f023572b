#include "ge/ops/families/cumulation.h"

namespace ge {

// The running product along one axis, from its other end when reversed, without the element itself
// when exclusive.
GE_OP(cum_prod) = Cumulation("CumProd", 26);

}  // namespace ge
