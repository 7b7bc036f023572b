#include "ge/ops/elementwise.h"

namespace ge {

// The angle in radians, 0 to pi, whose cosine is x; NaN beyond [-1, 1].
GE_OP(acos) = Unary<15>("Acos", 22, kFloats, "input", "output");

}  // namespace ge
