#include "ge/ops/families/random_numbers.h"

namespace ge {

// Numbers of a normal distribution with this mean and standard deviation.
GE_OP(random_normal) = RandomRecord("RandomNormal", false, {"mean", AttrKind::kFloat, 0.0f},
                                    {"scale", AttrKind::kFloat, 1.0f});

}  // namespace ge
