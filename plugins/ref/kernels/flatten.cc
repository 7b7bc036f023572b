#include "plugins/ref/kernels/copy.h"

GE_REF_KERNEL(flatten, "Flatten",
              [](const NodeView& n, Why* why) { return PrepareReshapeLike(n, 1, 1, why); })
