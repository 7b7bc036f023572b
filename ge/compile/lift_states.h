// Reads of a state become a parameter, the last assignment becomes a result: inside a run states
// are plain values, and what the run wrote becomes visible when it has succeeded.
#pragma once

#include <vector>

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

// Replaces ge.Read and ge.Assign of an entry's function by parameters and results.
Status LiftStates(Graph* graph, FunctionId fn, std::vector<StateId>* in, std::vector<StateId>* out);

}  // namespace ge
