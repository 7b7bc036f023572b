#include "ge/ops/elementwise.h"

namespace ge {

// The square root.
GE_OP(sqrt) = Unary<4>("Sqrt", 13, kFloats, "X", "Y");

}  // namespace ge
