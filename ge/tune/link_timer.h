// LinkTimer: times copies between the host and the memories of devices, and visits of the host, for
// `ge tune`. Runs show the same of what they copy (record_links.h). It prices nothing.
#pragma once

#include "ge/engine/engine.h"
#include "ge/plan/plan.h"
#include "ge/price/price_cache.h"

namespace ge {

// Of each asynchronous device with memory of its own, both ways at a few sizes, as `described` has
// their links; what a device refuses is left out and logged. `busy`: doubtful rows.
void MeasureLinks(const EngineList& engines, const Plan& described, bool busy, PriceCache* cache);

}  // namespace ge
