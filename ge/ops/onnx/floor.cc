#include "ge/ops/elementwise.h"

namespace ge {

// The greatest whole number that is not above x.
GE_OP(floor) = Unary<1>("Floor", 13, kFloats, "X", "Y");

}  // namespace ge
