#include "ge/ops/elementwise.h"

namespace ge {

// The number of at least 0 whose hyperbolic cosine is x; NaN below 1.
GE_OP(acosh) = Unary<20>("Acosh", 22, kFloats, "input", "output");

}  // namespace ge
