// Folding without computing: a Slice whose result is contiguous in its constant's payload, such as
// the first rows of a table of positions, becomes a constant sharing that payload. Nothing is
// copied or run. Pure; any thread.
#pragma once

#include <optional>

#include "ge/ir/graph.h"

namespace ge {

// The node's result as a constant; nullopt where it is no such Slice, or an operand is no constant.
std::optional<Const> PayloadPart(const Graph& graph, const Function& function, const Node& n);

}  // namespace ge
