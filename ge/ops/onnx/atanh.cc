#include "ge/ops/elementwise.h"

namespace ge {

// The number whose hyperbolic tangent is x; NaN beyond [-1, 1].
GE_OP(atanh) = Unary<20>("Atanh", 22, kFloats, "input", "output");

}  // namespace ge
