// Large values that nothing but constants decide, and that folding has left to the run, are
// computed just before they are read first: in the model's order all of them may be alive at once.
#pragma once

#include "ge/ir/graph.h"

namespace ge {

// Moves large values of constants alone before their first reader; see sink_sources.cc.
void SinkSources(Function* function);

}  // namespace ge
