#include "ge/ops/elementwise.h"

namespace ge {

// e^x.
GE_OP(exp) = Unary<10>("Exp", 13, kFloats, "input", "output");

}  // namespace ge
