// Moves large values that depend on constants alone, left to the run by folding, to just before
// their first reader: in the model's order all of them may be alive at once.
#pragma once

#include "ge/ir/graph.h"

namespace ge {

// Moves large values of constants alone before their first reader; see sink_sources.cc.
void SinkSources(Function* function);

}  // namespace ge
