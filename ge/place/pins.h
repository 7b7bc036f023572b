// Pins: selects the offers that remain when nodes are bound to an engine or device. It does not
// place. Functions only; the caller owns everything, any thread may call.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "ge/base/status.h"
#include "ge/engine/offers.h"
#include "ge/ir/graph.h"
#include "ge/place/options.h"
#include "ge/plan/plan.h"

namespace ge {

// The binding of a node.
struct NodePin {
  std::vector<DeviceId> devices;  // empty = free
  std::string_view layout;        // of the pin in PlaceOptions, which must outlive it; "" = any
  const PlacePin* pin = nullptr;  // the same pin; null = free
};
// By node. INVALID_ARGUMENT for an unknown node or engine, a name of several nodes, or
// two pins of one node. A pin naming one node counts before pins by an operator or a
// pattern.
Result<std::vector<NodePin>> ResolvePins(const Function& function, const Plan& plan,
                                         const PlaceOptions& options);

// Whether a choice whose border values have these layouts (the others are plain) is in the pin's
// layout.
bool InPinnedLayout(const std::vector<std::pair<ValueId, LayoutId>>& layouts,
                    std::string_view wanted, const Plan& plan);

// Ids of nodes with a pin: these stay whole, so the pin can bind them.
std::vector<NodeId> PinnedNodes(const Function& function, const std::vector<PlacePin>& pins);
// INVALID_ARGUMENT for a pin that fits no node of any function of the graph.
Status CheckPins(const Graph& graph, const std::vector<PlacePin>& pins);

// UNSUPPORTED for a pinned node without an offer of its engine, with the engine's reason, or
// without one in the pin's layout, with the layouts offered.
Status NoOfferForPin(const Function& function, const Plan& plan, uint32_t node, const NodePin& pin,
                     const OfferSet& offers);

}  // namespace ge
