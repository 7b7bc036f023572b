// Cover: a choice of offers in groups, its legality and its cost; the one place to write out the
// cost rule of ge/place/place.h in full. It is not a search. Functions only; the caller owns
// everything, any thread may call.
#pragma once

#include <cstdint>
#include <vector>

#include "ge/base/status.h"
#include "ge/place/model.h"
#include "ge/place/place.h"

namespace ge::place {

// The offer and the group covering each node. Group numbers need only be distinct.
struct Owner {
  std::vector<uint32_t> offer, group;
};

// Cost in ns of `groups`, infinity when a boundary is impossible. INTERNAL when not legal:
// a node is missing or covered twice, a group of several offers has one that does not grow, mixes
// devices or is not connected, or the quotient graph of groups or of the offers inside a group has
// a cycle.
Result<double> Evaluate(const Model& model, const std::vector<PlaceGroup>& groups);

// Sorts groups and the offers inside each into a runnable order. False when there is a
// cycle.
bool SortGroups(const Model& model, std::vector<PlaceGroup>* groups);

// A value's cost in ns: bringing it to each place that reads it outside its group, minus the saving
// of its producing offer when another offer of the group reads it.
double ValueCost(const Model& model, const Owner& owner, uint32_t value);

// The price of a group without its savings: marginals, greatest setup, greatest launch.
double GroupPrice(const Model& model, const std::vector<uint32_t>& offers);

}  // namespace ge::place
