#include "ge/ops/elementwise.h"

namespace ge {

// Every bit inverted.
GE_OP(bitwise_not) = Unary<1>("BitwiseNot", 18, kInts, "X", "Y");

}  // namespace ge
