#include "ge/ops/random_numbers.h"

namespace ge {

// RandomNormal in the shape of the input.
GE_OP(random_normal_like) = RandomRecord("RandomNormalLike", true, "mean", "scale");

}  // namespace ge
