#include "ge/ops/families/random_numbers.h"

namespace ge {

// RandomUniform in the shape of the input.
GE_OP(random_uniform_like) = RandomRecord("RandomUniformLike", true,
                                          {"high", AttrKind::kFloat, 1.0f},
                                          {"low", AttrKind::kFloat, 0.0f});

}  // namespace ge
