#include "ge/ops/elementwise.h"

namespace ge {

// The number whose hyperbolic sine is x.
GE_OP(asinh) = Unary<20>("Asinh", 22, kFloats, "input", "output");

}  // namespace ge
