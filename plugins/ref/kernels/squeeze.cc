#include "plugins/ref/kernels/copy.h"

GE_REF_KERNEL(squeeze, "Squeeze",
              [](const NodeView& n, Why* why) { return PrepareReshapeLike(n, 1, 2, why); })
