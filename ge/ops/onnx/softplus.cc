#include "ge/ops/elementwise.h"

namespace ge {

// ln(e^x + 1).
GE_OP(softplus) = Unary<20>("Softplus", 22, kFloats, "X", "Y");

}  // namespace ge
