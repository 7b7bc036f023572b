#include "ge/ops/elementwise.h"

namespace ge {

// The hyperbolic tangent.
GE_OP(tanh) = Unary<15>("Tanh", 13, kFloats, "input", "output");

}  // namespace ge
