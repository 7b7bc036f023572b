// Converts a graph's offers to numbers for the solver, and the solution back into the Plan.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "ge/base/status.h"
#include "ge/engine/engine.h"
#include "ge/engine/offers.h"
#include "ge/host/probe.h"
#include "ge/ir/graph.h"
#include "ge/place/options.h"
#include "ge/plan/plan.h"

namespace ge {

// Copies device facts into the plan: engines, devices, domains, links and conversions, with the
// host as number 0 of each. `engines[i]` becomes plan engine i + 1. Links without figures of an
// engine are as fast as copies in the machine's memory.
Status DescribeEngines(const EngineList& engines, const MachineRecord& machine, Plan* plan);
// The plan's number of the offer's device.
DeviceId DeviceOf(const Plan& plan, const Offer& offer);
void DescribeConversions(const OfferSet& offers, Plan* plan);

// PLACE: solves and writes segments (device, offers, predicted cost) in a runnable order into
// plan->functions[0], plan->predicted_ns and plan->report. `struck` holds indices of forbidden
// offers (their compile failed). Nodes must be offered: UNSUPPORTED names the first node without an
// engine, with each engine's reason. `options` may demand a plan other than the cheapest.
Status Place(const Graph& graph, const Function& function, const OfferSet& offers,
             const std::set<size_t>& struck, const PlaceOptions& options, Plan* plan);

// The cost of another plan's segments of the same function by these offers' prices; `described` is
// a plan with the same engines, links and layouts. FAILED_PRECONDITION when the other plan takes an
// offer that is missing here.
Result<double> PriceOfPlan(const Function& function, const OfferSet& offers, const Plan& described,
                           const PlanFunction& planned, const PlaceOptions& options);

}  // namespace ge
