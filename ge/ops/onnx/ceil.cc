#include "ge/ops/elementwise.h"

namespace ge {

// The least whole number that is not below x.
GE_OP(ceil) = Unary<1>("Ceil", 13, kFloats, "X", "Y");

}  // namespace ge
