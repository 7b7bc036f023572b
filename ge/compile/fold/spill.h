// Weights that a pass made anew (BatchNormalization folded into Conv) go into an unlinked temporary
// file and are mapped from there. Like the model's own weights they can then leave memory once an
// engine has packed them, and come back when another plan needs them.
#pragma once

#include "ge/ir/graph.h"

namespace ge {

// Moves large payloads that `original` does not have into a temporary file; see spill.cc.
void SpillConstants(Graph* graph, const Graph& original);
// The same for one, at once: who makes many does not hold them all at a time.
void SpillConstant(Const* constant);

}  // namespace ge
