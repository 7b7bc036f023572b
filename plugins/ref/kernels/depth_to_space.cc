#include "plugins/ref/kernels/blocks.h"

GE_REF_KERNEL(depth_to_space, "DepthToSpace",
              [](const NodeView& n, Why* why) { return PrepareBlocks(n, true, why); })
