// Splits groups of a solution so that asynchronous devices and the host work side by side: a group
// ends where a device may begin, or begins without what arrives late, where the simulated time of
// the run gets less by it. What a split costs (another setup and launch, edges no longer saved) is
// in that time. It makes no other choice of offers.
#pragma once

#include <vector>

#include "ge/base/status.h"
#include "ge/place/place.h"

namespace ge {

// Time in ns until all groups are done and all outputs are at the host: the host queues the groups
// of asynchronous devices (`async`, by device) as soon as their inputs are made, copies take
// turns on a lane of the device, everything else is the host's work.
double TimeOfGroups(const PlaceProblem& problem, const std::vector<bool>& async,
                    const std::vector<PlaceGroup>& groups);

// Splits solution->groups and sets its cost anew; leaves it alone where no device is asynchronous.
Status SplitForOverlap(const PlaceProblem& problem, const std::vector<bool>& async,
                       PlaceSolution* solution);

}  // namespace ge
