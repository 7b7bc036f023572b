#include "ge/ops/elementwise.h"

namespace ge {

// (e^x - e^-x) / 2.
GE_OP(sinh) = Unary<15>("Sinh", 22, kFloats, "input", "output");

}  // namespace ge
