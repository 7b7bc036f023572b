#include "ge/ops/families/random_numbers.h"

namespace ge {

// Numbers spread evenly over [low, high).
GE_OP(random_uniform) = RandomRecord("RandomUniform", false, {"high", AttrKind::kFloat, 1.0f},
                                     {"low", AttrKind::kFloat, 0.0f});

}  // namespace ge
