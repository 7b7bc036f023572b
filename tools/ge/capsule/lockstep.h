// ge replay F.gecap --lockstep: each segment on what was recorded of its inputs, by its own engine
// and, node by node, by the reference. What differs there is a node's own error; what differs only
// from a run of the reference from the beginning is inherited. One thread; every trial has a
// process of its own.
#pragma once

#include "ge/base/status.h"
#include "tools/ge/capsule/recorded.h"
#include "tools/ge/command.h"

namespace ge::tool {

// Prints the errors; *code is 1 where a node has one of its own.
Status RunLockstep(const Recorded& r, const Options& options, int* code);

}  // namespace ge::tool
