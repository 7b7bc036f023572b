#include "ge/ops/elementwise.h"

namespace ge {

// (e^x + e^-x) / 2.
GE_OP(cosh) = Unary<15>("Cosh", 22, kFloats, "input", "output");

}  // namespace ge
