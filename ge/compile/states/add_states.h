// States that operators of plugins bring along (GE_PORT_STATE of ge_plugin_op.h): models do not
// name them. Each node gets a state for each such port, is given what it holds, and what it answers
// is assigned behind it. One thread.
#pragma once

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

// Nodes that have all their inputs already are left alone. PLUGIN_ERROR where a plugin's rule does
// not say what type a state has.
Status AddStates(Graph* graph);

}  // namespace ge
