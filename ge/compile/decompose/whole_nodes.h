// Finds nodes with a decomposition but without a choice: in each memory domain an engine takes
// them whole for no more than the least offered for their parts there. They need not enter the
// market, which searches a graph with all parts in it. It places nothing. Functions; one
// thread.
#pragma once

#include <unordered_map>
#include <vector>

#include "ge/compile/decompose/decomposition.h"

namespace ge {

struct WholePrice {
  double whole_ns = 0, parts_ns = 0;  // where they are nearest
};

// Finds them among the candidates, by `whole`, the offers for the graph as it is. Asks about parts
// once for nodes that are alike, in isolation: it sees no pattern of parts with neighbours, nor one
// of the whole node with them. Layouts are interned into plan->layouts; its devices give the domain
// of an offer.
Result<std::unordered_map<NodeId, WholePrice>> WholeNodes(const Graph& graph, FunctionId fn,
                                                          const std::vector<NodeId>& candidates,
                                                          const OfferSet& whole,
                                                          const AskEngines& ask, Plan* plan);

}  // namespace ge
