// The graph of one segment of a plan: its nodes alone, what it reads as inputs, what it hands on as
// outputs. For running a piece of a recorded run by itself. Pure; any thread may call.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/graph.h"
#include "ge/plan/plan.h"

namespace ge {

// Of the entry's function `fn`, the nodes with these ids, which read `inputs` and make `outputs`,
// in this order. Constants stay constants, ids stay as they are, and functions that nothing calls
// any more stay, too. The one entry has the name "main". INVALID_GRAPH: a node that is not there,
// or that reads what neither another one makes nor an input is.
Result<Graph> NodesGraph(const Graph& graph, FunctionId fn, std::span<const NodeId> nodes,
                         std::span<const ValueId> inputs, std::span<const ValueId> outputs);

// The ids of a segment's nodes, in their order.
std::vector<NodeId> NodesOf(const PlanSegment& segment);

}  // namespace ge
