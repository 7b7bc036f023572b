// VERIFY: is this graph legal? Reads only; called on load and after every pass. Not INFER: it
// believes the types in the graph.
#pragma once

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

struct VerifyLimits {
  uint64_t max_nodes = 2'000'000;
  uint64_t max_values = 8'000'000;
  int64_t max_rank = 16;
  uint32_t max_function_depth = 64;
};

// SSA and topological order, dangling ids, signatures of callees, recursion (functions not marked
// recursive), effects ordered, states and constants well typed (payload size against shape), Zero
// and Pack types only where legal, duplicate names, entries.
Status Verify(const Graph& graph, const VerifyLimits& limits = {});

}  // namespace ge
