#include "ge/ops/elementwise.h"

namespace ge {

// max(x, 0).
GE_OP(relu) = Unary<1>("Relu", 14, kFloats | kSignedInts, "X", "Y");

}  // namespace ge
