#include "ge/ops/elementwise.h"

namespace ge {

// 1/x.
GE_OP(reciprocal) = Unary<4>("Reciprocal", 13, kFloats, "X", "Y");

}  // namespace ge
