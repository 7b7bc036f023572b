#include "ge/ops/elementwise.h"

namespace ge {

// The nearest whole number; of two, the even one.
GE_OP(round) = Unary<1>("Round", 22, kFloats, "X", "Y");

}  // namespace ge
