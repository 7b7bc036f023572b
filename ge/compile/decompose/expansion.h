// Expands nodes into the parts of their decomposition (OpDef::decompose), and quantized weights
// into constants (quantized_weights.h). Functions only; they own nothing; one thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

struct Expansion {
  NodeId node = 0;
  std::string op;
  std::vector<NodeId> parts;      // empty for a quantized weight
  std::vector<ValueId> from, to;  // the node's outputs and their replacements; same length
};

// The floats of a quantized weight; nullopt where nobody makes them: then it stays.
using FloatsOfWeight = std::function<Result<std::optional<Const>>(
    const Graph& graph, const Function& function, const Node& node)>;

// The nodes with a decomposition.
std::vector<NodeId> NodesWithParts(const Graph& graph, const Function& function);

// Leaves out nodes whose rule answers nothing. Expands parts again if they are nodes of a plugin's
// operator with neither a kernel nor another way to run; PLUGIN_ERROR names an operator that leads
// back to itself.
Result<std::vector<Expansion>> Expand(const FloatsOfWeight& floats, Graph* graph, FunctionId fn,
                                      const std::vector<NodeId>& which);

// The same for asking engines about types and prices alone. Constants without content stand in for
// the floats of quantized weights, and for parts of constants alone, which will be folded, unless
// these are as small as shapes and axes. Such parts are not in the graph.
Result<std::vector<Expansion>> ExpandToAsk(Graph* graph, FunctionId fn,
                                           const std::vector<NodeId>& which);

}  // namespace ge
