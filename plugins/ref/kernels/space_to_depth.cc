#include "plugins/ref/kernels/blocks.h"

GE_REF_KERNEL(space_to_depth, "SpaceToDepth", 1,
              [](const NodeView& n, Why* why) { return PrepareBlocks(n, true, false, why); })
