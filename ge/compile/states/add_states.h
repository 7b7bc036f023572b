// Adds the states of plugins' operators (GE_PORT_STATE of ge_plugin_op.h), which models do not
// name. Each node gets a state for each such port: the host passes its content as an input and
// assigns the node's output to it. One thread.
#pragma once

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

// Leaves nodes alone that have all their inputs already. PLUGIN_ERROR where a plugin's rule does
// not give the type of a state.
Status AddStates(Graph* graph);

}  // namespace ge
