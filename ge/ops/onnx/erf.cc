#include "ge/ops/elementwise.h"

namespace ge {

// The error function.
GE_OP(erf) = Unary<20>("Erf", 13, kFloats, "input", "output");

}  // namespace ge
