// The least that nodes are offered for. Functions only; any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "ge/engine/offers.h"

namespace ge {

// The cheapest that each node is offered for, alone or as its share of a pattern; infinity where
// nobody takes it.
std::vector<double> LeastOf(const OfferSet& offers, size_t nodes);
// The same summed up: not a bound, but what plans of one graph at other dims can be measured by.
double FloorOf(const OfferSet& offers, size_t nodes);

}  // namespace ge
