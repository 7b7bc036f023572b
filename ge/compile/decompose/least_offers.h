// The least offered price of nodes. Functions only; any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "ge/engine/offers.h"

namespace ge {

// The cheapest offer of each node, alone or as its share of a pattern; infinity where nobody takes
// it.
std::vector<double> LeastOf(const OfferSet& offers, size_t nodes);
// The sum of LeastOf: no bound, but a measure to compare plans of one graph at other dims.
double FloorOf(const OfferSet& offers, size_t nodes);

}  // namespace ge
