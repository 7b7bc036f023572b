// A key of the graph of a piece as it was bound, its sources sunk (sink_sources.h), by which its
// plan is found again in other processes.
#pragma once

#include <string>

#include "ge/ir/graph.h"

namespace ge {

// Equal for graphs with the same nodes, names and shapes; payloads of large constants do not count.
// Any thread may call.
std::string BoundKey(const Graph& bound, FunctionId fn);
// Of a piece as it comes, before anything of it is folded: with every payload that it reads.
std::string ExactKey(const Graph& bound, FunctionId fn);

}  // namespace ge
