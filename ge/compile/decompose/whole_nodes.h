// Nodes with a decomposition for which there is nothing to choose: in each memory domain somebody
// takes them whole for no more than the least that their parts are offered for there. They need not
// enter the market, which searches a graph with all parts in it. It places nothing. Functions; one
// thread.
#pragma once

#include <unordered_map>
#include <vector>

#include "ge/compile/decompose/decomposition.h"

namespace ge {

struct WholePrice {
  double whole_ns = 0, parts_ns = 0;  // where they are nearest
};

// Of the candidates, by `whole`, the offers for the graph as it is. Parts are asked about once for
// nodes that are alike, by themselves: a pattern of parts with neighbours is not seen, as one of
// the whole node with them is not. Layouts are interned into plan->layouts; its devices say which
// domain an offer is of.
Result<std::unordered_map<NodeId, WholePrice>> WholeNodes(const Graph& graph, FunctionId fn,
                                                          const std::vector<NodeId>& candidates,
                                                          const OfferSet& whole,
                                                          const AskEngines& ask, Plan* plan);

}  // namespace ge
