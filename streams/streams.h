// STREAMS: segments and transfers in execution order -> streams, events and waits. Orders every
// dependence, and overlaps independent work of asynchronous devices if prices say it pays. Launches
// overwriting an input go to the end, behind a commit. Fills PlanFunction::{streams, events, code};
// knows no memory.
#pragma once

#include "ge/base/status.h"
#include "ge/plan/plan.h"

namespace ge {

struct StreamOptions {
  uint32_t max_streams_per_device = 3;  // work, and copies of either way
};

// On entry `code` holds kLaunch and kCopy in a legal order, all with stream 0.
Status AssignStreams(Plan* plan, const StreamOptions& options = {});

}  // namespace ge
