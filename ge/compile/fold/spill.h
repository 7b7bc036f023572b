// Writes weights made by passes (BatchNormalization folded into Conv) to an unlinked temporary file
// and maps them from there. Like the model's own weights they can then leave memory once an engine
// has packed them, and come back when another plan needs them.
#pragma once

#include "ge/ir/graph.h"

namespace ge {

// Moves large payloads missing in `original` into a temporary file; see spill.cc.
void SpillConstants(Graph* graph, const Graph& original);
// The same for one, at once: a pass making many need not hold them all at a time.
void SpillConstant(Const* constant);

}  // namespace ge
