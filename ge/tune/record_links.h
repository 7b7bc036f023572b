// What runs show of links and waits: a plan's clock -> rows of the price cache. Nothing is run
// here. Used by one thread at a time.
#pragma once

#include "ge/compile/compiled/compiled.h"
#include "ge/engine/engine.h"
#include "ge/price/price_cache.h"

namespace ge {

// Notes the plan's copies between domains and the host's waits for devices. A first run alone,
// which pays for fresh pages and threads, counts as doubtful.
void RecordLinks(const EngineList& engines, const Compiled& compiled,
                 const RunClock::Summary& summary, bool busy, PriceCache* cache);

}  // namespace ge
