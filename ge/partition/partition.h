// PARTITION: placed segments -> plan values, transfers and instructions in a runnable order. Reads
// the Graph and PLACE's part of the Plan; asks no engine. It checks that the cost of its result
// equals PLACE's prediction.
#pragma once

#include <span>

#include "ge/base/status.h"
#include "ge/plan/plan.h"
#include "ge/plan/state_homes.h"

namespace ge {

// Fills functions[0].{values, inputs, outputs, code} and each segment's inputs, outputs and
// constants. A value is transferred once to each distinct (domain, layout) reading it, straight
// from its origin. INTERNAL when the realised cost differs from the prediction.
// States begin and end at their homes (state_homes.h), inputs and outputs at the host.
Status Partition(const Graph& graph, const Function& function, Plan* plan,
                 std::span<const StateValues> states = {});

}  // namespace ge
