// PARTITION: placed segments -> plan values, transfers and instructions in a runnable order.
// Reads the Graph and what PLACE wrote into the Plan; asks no engine. The cost of what it builds
// equals PLACE's prediction, which it checks.
#pragma once

#include "ge/base/status.h"
#include "ge/plan/plan.h"

namespace ge {

// Fills functions[0].{values, inputs, outputs, code} and each segment's inputs, outputs and
// constants. A value is brought once to each distinct (domain, layout) that reads it, straight
// from where it was made. INTERNAL when the realised cost differs from the prediction.
Status Partition(const Graph& graph, const Function& function, Plan* plan);

}  // namespace ge
