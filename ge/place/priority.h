// The priority policy: what runtimes without prices do. It only says which offers remain; grouping,
// layouts and the price of what remains are the solver's, so that both policies pay by one rule.
// Functions only; the caller owns everything, any thread may call.
#pragma once

#include <cstdint>
#include <vector>

#include "ge/place/place.h"

namespace ge {

// Device by device in the order of `rank` (by device, lower first), the offers of the most nodes
// first, then in the order of the graph: an offer is taken when its nodes are free and it makes no
// cycle with those taken before. Answers for each offer whether it stays: those taken, and the
// other offers of the same device for exactly the same nodes (layouts, algorithms).
std::vector<bool> KeepByPriority(const PlaceProblem& problem, const std::vector<uint32_t>& rank);

}  // namespace ge
