// What engines take for a sample of work on this machine, measured when somebody asks for it
// (`ge tune`): engines state their prices for the machine that they were fitted on, scaled by the
// host probe's peaks, and no kernel comes equally near to the peak everywhere. The rows go into the
// cache like any other and correct prices the same way. It is not a benchmark, and places nothing.
// Used by one thread.
#pragma once

#include <memory>
#include <vector>

#include "ge/compile/compiled/compiled.h"
#include "ge/engine/engine.h"
#include "ge/price/price_cache.h"

namespace ge {

// Within `budget_ms`; the answer says how many offers were timed. An engine that refuses the sample
// or a launch keeps its prices. What is measured while others keep the machine busy is kept as
// doubtful.
MeasureReport ProbeEngines(const EngineList& engines, double budget_ms, PriceCache* cache);

}  // namespace ge
