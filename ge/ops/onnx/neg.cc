#include "ge/ops/elementwise.h"

namespace ge {

// -x.
GE_OP(neg) = Unary<1>("Neg", 13, kFloats | kSignedInts, "X", "Y");

}  // namespace ge
