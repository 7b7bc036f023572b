#include "ge/ops/elementwise.h"

namespace ge {

// 1 / (1 + e^-x).
GE_OP(sigmoid) = Unary<12>("Sigmoid", 13, kFloats, "X", "Y");

}  // namespace ge
