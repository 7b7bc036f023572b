// What a plan took, said so that PLACE can be asked for it again, or for most of it. It places
// nothing. Functions only; the caller owns everything, any thread may call.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ge/place/options.h"
#include "ge/plan/plan.h"

namespace ge {

// The place_method of a plan that takes the cover it was given.
inline constexpr const char* kRehearsedMethod = "rehearsed";

// The segments of a function that was placed by `plan`'s engines, offer by offer.
std::vector<PlaceSegment> CoverOf(const Plan& plan, const PlanFunction& placed);

// Pins that leave every node of the plan where it is, but `moved` ones to `target`, an engine or
// device, and free those that share an offer with one of them, since that offer is gone.
std::vector<PlacePin> PinsOfMove(const Plan& plan, std::span<const NodeId> moved,
                                 const std::string& target);

// Who runs what in which layouts: equal for plans of one graph that do the same.
std::string PlacementDigest(const Plan& plan);

}  // namespace ge
