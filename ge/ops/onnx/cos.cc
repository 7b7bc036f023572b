#include "ge/ops/elementwise.h"

namespace ge {

// The cosine of radians.
GE_OP(cos) = Unary<15>("Cos", 22, kFloats, "input", "output");

}  // namespace ge
