// Frontier search: dynamic programming over a topological order of the nodes. Two beginnings of a
// cover that look the same from the nodes still to come (where each live value is, which groups
// can still grow and at what price, which patterns are half taken, which group reaches which) are
// one state, and the cheaper one stays. That is exact; on chains and series-parallel graphs the
// states are few. An upper bound turns it into branch and bound; a cap on states into a beam.
// One object serves one search on one thread; the model must outlive it.
#pragma once

#include <cstdint>
#include <vector>

#include "ge/place/model.h"
#include "ge/place/place.h"

namespace ge::place {

struct FrontierLimits {
  uint32_t states = 256;           // kept after each node
  uint64_t transitions = 400000;   // in all; beyond it only kBeamFloor states are kept
  double upper_bound = kInfinity;  // states that cannot go below it are dropped
};

struct FrontierResult {
  bool found = false;  // false: nothing below the bound (or nothing at all) was seen
  // No state was lost to a limit: `groups` is optimal among the allowed offers or, when not found,
  // nothing below upper_bound exists.
  bool exact = true;
  uint64_t transitions = 0;
  std::vector<PlaceGroup> groups;
};

// Searches covers made of the offers with allowed[i]. Values that are live at once, or distinct
// places of one value, beyond the width of the state words make it give up (found = exact = false).
FrontierResult SearchFrontier(const Model& model, const std::vector<bool>& allowed,
                              const FrontierLimits& limits);

}  // namespace ge::place
