// Measures engines on a sample of work on this machine, on request (`ge tune`). Engines state
// their prices for the machine they were fitted on, scaled by the host probe's peaks, and no
// kernel comes equally near to the peak everywhere. The rows go into the cache like any other
// and correct prices the same way. It is not a benchmark, and places nothing. Used by one
// thread.
#pragma once

#include <memory>
#include <vector>

#include "ge/compile/compiled/compiled.h"
#include "ge/engine/engine.h"
#include "ge/price/price_cache.h"

namespace ge {

// Within `budget_ms`; answers how many offers were timed. An engine that refuses the sample or a
// launch keeps its prices. Rows measured while others keep the machine busy are kept as
// doubtful.
MeasureReport ProbeEngines(const EngineList& engines, double budget_ms, PriceCache* cache);

}  // namespace ge
