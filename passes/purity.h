// Purity: the nodes that a pass may run early, merge or drop. Reads the graph and the operator
// table; owns nothing; any thread.
#pragma once

#include <vector>

#include "ge/ir/graph.h"

namespace ge {

// The same inputs give the same outputs and nothing else happens: known operator, deterministic,
// no effects, calls no function, waits for no other node.
bool IsPure(const Graph& graph, const Node& node);
// By FunctionId: does running the function have an effect, its callees included?
std::vector<bool> FunctionsWithEffects(const Graph& graph);
// May the node be dropped when nobody reads its outputs? `with_effects` as above.
bool IsDroppable(const Graph& graph, const Node& node, const std::vector<bool>& with_effects);

}  // namespace ge
