// Expands pinned nodes with a decomposition that their engine does not take whole; then their parts
// are pinned instead. It decides for no other node. A function; the caller owns everything; one
// thread.
#pragma once

#include "ge/compile/decompose/decomposition.h"
#include "ge/place/options.h"

namespace ge {

// Replaces such pins of `place` by pins of the parts. A pin with a layout applies to the whole
// node. *expanded gets the nodes behind those present; each part gets a note.
Status ExpandPinned(const EngineList& engines, const AskEngines& ask, const FloatsOfWeight& floats,
                    Graph* graph, FunctionId fn, PlaceOptions* place, std::vector<NodeId>* expanded,
                    DecompositionNotes* notes);

}  // namespace ge
