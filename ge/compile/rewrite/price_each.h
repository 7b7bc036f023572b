// What each node of a function would cost by itself, as the session's engines ask now: what a pass
// of ours hears that chooses between two ways to write many nodes. One query an engine; nothing is
// placed or compiled.
#pragma once

#include <map>
#include <vector>

#include "ge/base/status.h"
#include "ge/engine/engine.h"
#include "ge/ir/graph.h"

namespace ge {

// In ns, by position in the function: the cheapest offer, of one for several nodes its share, or
// that of all parts of its decomposition;
// infinity where nobody takes the node or the question has no answer (bodies, effects, values that
// are no tensors). `as`: types that values are taken to have instead of their own; a 16-bit float
// constant may become float32 so. Free sizes count as small ones. Engines' own prices, not what
// this machine has learned of them: what a pass makes of them decides numbers, which are not to
// change from run to run.
Result<std::vector<double>> PriceEach(const Graph& graph, FunctionId fn,
                                      const std::map<ValueId, Type>& as, const EngineList& engines);

}  // namespace ge
