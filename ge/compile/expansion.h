// Nodes that become the parts of their decomposition (OpDef::decompose). Functions only; they own
// nothing; one thread.
#pragma once

#include <string>
#include <vector>

#include "ge/ir/graph.h"

namespace ge {

struct Expansion {
  NodeId node = 0;
  std::string op;
  std::vector<NodeId> parts;
  std::vector<ValueId> from, to;  // the node's outputs and what stands for them; same length
};

// Those that have a decomposition.
std::vector<NodeId> NodesWithParts(const Graph& g, const Function& f);

// Nodes whose rule answers nothing are left out of the result.
std::vector<Expansion> Expand(Graph* g, FunctionId fn, const std::vector<NodeId>& which);

}  // namespace ge
