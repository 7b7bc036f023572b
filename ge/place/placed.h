// Describes a plan's placement, for asking PLACE for it again, or for most of it. It places
// nothing. Functions only; the caller owns everything, any thread may call.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ge/place/options.h"
#include "ge/plan/plan.h"

namespace ge {

// The place_method of a plan taking its given cover.
inline constexpr const char* kRehearsedMethod = "rehearsed";

// The segments of a function placed by `plan`'s engines, offer by offer.
std::vector<PlaceSegment> CoverOf(const Plan& plan, const PlanFunction& placed);

// Pins that keep every node of the plan in place, but move `moved` nodes to `target`, an engine or
// device. Nodes sharing an offer with a moved one are free, since that offer is gone.
std::vector<PlacePin> PinsOfMove(const Plan& plan, std::span<const NodeId> moved,
                                 const std::string& target);

// A digest of engines, nodes and layouts: equal for plans of one graph with equal placements.
std::string PlacementDigest(const Plan& plan);

}  // namespace ge
