#include "ge/ops/random_numbers.h"

namespace ge {

// RandomUniform in the shape of the input.
GE_OP(random_uniform_like) = RandomRecord("RandomUniformLike", true, "high", "low");

}  // namespace ge
