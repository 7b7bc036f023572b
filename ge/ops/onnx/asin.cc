#include "ge/ops/elementwise.h"

namespace ge {

// The angle in radians, -pi/2 to pi/2, whose sine is x; NaN beyond [-1, 1].
GE_OP(asin) = Unary<15>("Asin", 22, kFloats, "input", "output");

}  // namespace ge
