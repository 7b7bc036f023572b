// Whether a model's states may be SharedStates, which other sessions use, too. One thread.
#pragma once

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

// UNSUPPORTED with the state's name, or the node's: states that runs append to (a decoder's caches)
// or of no fixed size; a state that a pass has given another type than the model says (a rank's
// share); collectives, whose runs wait for each other while each holds its states. `loaded` is the
// model before passes.
Status CheckShareable(const Graph& loaded, const Graph& graph);

}  // namespace ge
