// Moves: local search on an Arrangement for what the frontier search had to leave open: take or
// undo an offer or a pattern, grow a group the other way, merge groups, and switch whole regions to
// one device and layout, or layout alone, along a minimum cut. Deterministic: limited by counted
// work, never by time. The arrangement is the caller's; one thread.
#pragma once

#include <cstdint>

#include "ge/place/arrangement.h"
#include "ge/place/model.h"

namespace ge::place {

// Sweeps until nothing gains or `work` more values and groups have been looked at. True on gain.
bool ImproveByMoves(const Model& model, uint64_t work, Arrangement* cover);

// For each device and layout, finds by Boost.Graph max-flow the set of taken offers to switch to
// it, and switches what proves cheaper. `work` as above. True on gain.
bool ImproveByCuts(const Model& model, uint64_t work, Arrangement* cover);

// The same for each layout, where every offer stays with its device and its nodes: a chain through
// two devices that changes layout at each border gains nothing by any one of them. One cut a
// layout, about 1 us a node and value each. True on gain.
bool ImproveByLayouts(const Model& model, Arrangement* cover);

}  // namespace ge::place
