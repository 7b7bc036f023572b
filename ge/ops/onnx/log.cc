#include "ge/ops/elementwise.h"

namespace ge {

// The natural logarithm; NaN below 0.
GE_OP(log) = Unary<10>("Log", 13, kFloats, "input", "output");

}  // namespace ge
