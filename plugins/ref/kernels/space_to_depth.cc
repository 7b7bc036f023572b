#include "plugins/ref/kernels/blocks.h"

GE_REF_KERNEL(space_to_depth, "SpaceToDepth",
              [](const NodeView& n, Why* why) { return PrepareBlocks(n, false, why); })
