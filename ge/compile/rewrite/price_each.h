// Asks the session's engines for the price of each node of a function by itself. A pass of ours
// uses it to choose between two ways to write many nodes. One query an engine; nothing is placed or
// compiled.
#pragma once

#include <map>
#include <vector>

#include "ge/base/status.h"
#include "ge/engine/engine.h"
#include "ge/ir/graph.h"

namespace ge {

// In ns, by position in the function: the cheapest offer (for an offer of several nodes,
// the node's share) or the sum over the parts of its decomposition. Infinity where nobody
// takes the node or the question has no answer (bodies, effects, values other than
// tensors). `as`: types to assume instead of the values' own, also float32 for a 16-bit
// float constant. Free sizes count as small ones. These are the engines' own prices,
// without this machine's measurements: the choice changes numbers, which must not vary from
// run to run.
Result<std::vector<double>> PriceEach(const Graph& graph, FunctionId fn,
                                      const std::map<ValueId, Type>& as, const EngineList& engines);

}  // namespace ge
