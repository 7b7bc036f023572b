#include "ge/ops/random_numbers.h"

namespace ge {

// Numbers of a normal distribution with this mean and standard deviation.
GE_OP(random_normal) = RandomRecord("RandomNormal", false, "mean", "scale");

}  // namespace ge
