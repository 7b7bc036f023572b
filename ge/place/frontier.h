// Frontier search: dynamic programming over a topological order of the nodes. Two beginnings of a
// cover are one state when they look the same from the nodes still to come (places of live values,
// groups still able to grow and their prices, half-taken patterns, reach of groups); the cheaper
// one stays. That is exact; on chains and series-parallel graphs the states are few. An upper bound
// turns it into branch and bound; a cap on states into a beam. One object serves one search on one
// thread; the model must outlive it.
#pragma once

#include <cstdint>
#include <vector>

#include "ge/place/model.h"
#include "ge/place/place.h"

namespace ge::place {

struct FrontierLimits {
  uint32_t states = 256;           // kept after each node
  uint64_t transitions = 400000;   // in all; beyond it only kBeamFloor states are kept
  double upper_bound = kInfinity;  // drops states that cannot go below it
};

struct FrontierResult {
  bool found = false;  // false: nothing below the bound (or nothing at all) was seen
  // No state was lost to a limit: `groups` is optimal among the allowed offers or, when not found,
  // nothing below upper_bound exists.
  bool exact = true;
  uint64_t transitions = 0;
  std::vector<PlaceGroup> groups;
};

// Searches covers made of the offers with allowed[i]. Gives up (found = exact = false) when the
// values live at once, or the distinct places of one value, exceed the width of the state words.
FrontierResult SearchFrontier(const Model& model, const std::vector<bool>& allowed,
                              const FrontierLimits& limits);

}  // namespace ge::place
