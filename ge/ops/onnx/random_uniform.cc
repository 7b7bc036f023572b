#include "ge/ops/random_numbers.h"

namespace ge {

// Numbers spread evenly over [low, high).
GE_OP(random_uniform) = RandomRecord("RandomUniform", false, "high", "low");

}  // namespace ge
