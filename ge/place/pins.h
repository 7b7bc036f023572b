// Pins: which offers remain when nodes are bound to an engine or device. It does not place.
// Functions only; the caller owns everything, any thread may call.
#pragma once

#include <vector>

#include "ge/base/status.h"
#include "ge/engine/offers.h"
#include "ge/ir/graph.h"
#include "ge/place/options.h"
#include "ge/plan/plan.h"

namespace ge {

// The devices that each node is bound to; empty = free. INVALID_ARGUMENT for a node or engine that
// is not there, a name of several nodes, or two pins of one node.
Result<std::vector<std::vector<DeviceId>>> ResolvePins(const Function& function, const Plan& plan,
                                                       const std::vector<PlacePin>& pins);

// UNSUPPORTED for a pinned node that its engine makes no offer for, with the engine's reason.
Status NoOfferForPin(const Function& function, const Plan& plan, uint32_t node,
                     const std::vector<DeviceId>& devices, const OfferSet& offers);

}  // namespace ge
