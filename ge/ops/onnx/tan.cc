#include "ge/ops/elementwise.h"

namespace ge {

// The tangent of radians.
GE_OP(tan) = Unary<15>("Tan", 22, kFloats, "input", "output");

}  // namespace ge
