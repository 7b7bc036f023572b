#include "ge/ops/families/random_numbers.h"

namespace ge {

// RandomNormal in the shape of the input.
GE_OP(random_normal_like) = RandomRecord("RandomNormalLike", true, {"mean", AttrKind::kFloat, 0.0f},
                                         {"scale", AttrKind::kFloat, 1.0f});

}  // namespace ge
