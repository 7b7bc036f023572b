// Prices some nodes of a graph by themselves, as the session's engines ask now, for
// passes of plugins that want to know whether a rewrite pays. Plans, but compiles
// nothing.
#pragma once

#include <vector>

#include "ge/base/status.h"
#include "ge/compile/compiled/compiled.h"
#include "ge/engine/engine.h"
#include "ge/ir/graph.h"

namespace ge {

// In ns: the cheapest plan's prediction, inputs and results in host memory; no nodes = all of the
// function. UNSUPPORTED where a size is unknown, a node has a body or no engine takes one. The
// graph may hold nodes out of order, and empty ones.
Result<double> PriceNodes(const Graph& graph, FunctionId fn, const std::vector<NodeId>& nodes,
                          const EngineList& engines, const BuildOptions& options);

}  // namespace ge
