#include "ge/ops/elementwise.h"

namespace ge {

// The sine of radians.
GE_OP(sin) = Unary<15>("Sin", 22, kFloats, "input", "output");

}  // namespace ge
