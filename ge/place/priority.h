// The priority policy of runtimes without prices. It only selects the remaining offers; the solver
// decides their grouping, layouts and price, so both policies pay by one rule. Functions only; the
// caller owns everything, any thread may call.
#pragma once

#include <cstdint>
#include <vector>

#include "ge/place/place.h"

namespace ge {

// Device by device in the order of `rank` (by device, lower first), the offers of the most nodes
// first, then in the order of the graph: an offer is taken when its nodes are free and it makes no
// cycle with offers taken before. Answers for each offer whether it stays: the taken ones, and
// other offers of the same device for exactly the same nodes (layouts, algorithms).
std::vector<bool> KeepByPriority(const PlaceProblem& problem, const std::vector<uint32_t>& rank);

}  // namespace ge
