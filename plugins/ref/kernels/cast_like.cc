#include "plugins/ref/kernels/cast.h"

GE_REF_KERNEL(cast_like, "CastLike",
              [](const NodeView& n, Why* why) { return PrepareCast(n, 2, why); })
