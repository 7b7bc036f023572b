// Moves: local search on an Arrangement for decisions left open by the frontier search: take or
// undo an offer or a pattern, grow a group the other way, merge groups, and switch whole regions to
// one device and layout, or layout alone, along a minimum cut. Deterministic: limited by counted
// work, never by time. The arrangement is the caller's; one thread.
#pragma once

#include <cstdint>

#include "ge/place/arrangement.h"
#include "ge/place/model.h"

namespace ge::place {

// Sweeps until nothing gains or it has visited `work` more values and groups. True on gain.
bool ImproveByMoves(const Model& model, uint64_t work, Arrangement* cover);

// For each device and layout, finds by Boost.Graph max-flow the set of taken offers to switch to
// it, and makes each switch that proves cheaper. `work` as above. True on gain.
bool ImproveByCuts(const Model& model, uint64_t work, Arrangement* cover);

// The same for each layout, while every offer stays with its device and its nodes: a chain through
// two devices with a layout change at each border gains nothing by any single one of them. One cut
// a layout, about 1 us a node and value each. True on gain.
bool ImproveByLayouts(const Model& model, Arrangement* cover);

}  // namespace ge::place
