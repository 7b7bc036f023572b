// Pinned nodes that their engine does not take whole, but that have a decomposition: they become
// their parts, which are then pinned in their place. It decides for nobody else. A function; the
// caller owns everything; one thread.
#pragma once

#include "ge/compile/decompose/decomposition.h"
#include "ge/place/options.h"

namespace ge {

// Pins of `place` that are met so are replaced by those of the parts. A pin that names a layout
// means the node as it is. *expanded gets the nodes behind what is there; each part gets a note.
Status ExpandPinned(const EngineList& engines, const AskEngines& ask, const FloatsOfWeight& floats,
                    Graph* graph, FunctionId fn, PlaceOptions* place, std::vector<NodeId>* expanded,
                    DecompositionNotes* notes);

}  // namespace ge
