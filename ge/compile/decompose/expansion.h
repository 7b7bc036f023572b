// Nodes that become the parts of their decomposition (OpDef::decompose), and quantized weights that
// become constants (quantized_weights.h). Functions only; they own nothing; one thread.
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
  std::vector<NodeId> parts;      // none of a quantized weight
  std::vector<ValueId> from, to;  // the node's outputs and what stands for them; same length
};

// The floats of a quantized weight; nullopt where nobody makes them: it stays.
using FloatsOfWeight = std::function<Result<std::optional<Const>>(
    const Graph& graph, const Function& function, const Node& node)>;

// Those that have a decomposition.
std::vector<NodeId> NodesWithParts(const Graph& graph, const Function& function);

// Nodes whose rule answers nothing are left out of the result. Parts of a plugin's operator that
// have neither a kernel nor another way are taken apart, too; PLUGIN_ERROR names one that leads
// back to itself.
Result<std::vector<Expansion>> Expand(const FloatsOfWeight& floats, Graph* graph, FunctionId fn,
                                      const std::vector<NodeId>& which);

// The same where engines are asked about types and prices alone: constants without content stand in
// for floats of quantized weights, and for parts of constants alone, which will be folded, but for
// those as small as shapes and axes. Such parts stand nowhere.
Result<std::vector<Expansion>> ExpandToAsk(Graph* graph, FunctionId fn,
                                           const std::vector<NodeId>& which);

}  // namespace ge
