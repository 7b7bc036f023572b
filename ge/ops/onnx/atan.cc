#include "ge/ops/elementwise.h"

namespace ge {

// The angle in radians, -pi/2 to pi/2, whose tangent is x.
GE_OP(atan) = Unary<15>("Atan", 22, kFloats, "input", "output");

}  // namespace ge
