// What a session learns about prices: before PLACE by timing offers alone (`measure`), after runs
// from their clocks (`cached`). Results go into the price cache; nothing is placed here.
// Used by one thread at a time, under the session's compile lock.
#pragma once

#include <memory>
#include <vector>

#include "ge/engine/engine.h"
#include "ge/engine/offers.h"
#include "ge/engine/price_cache.h"
#include "ge/engine/view.h"
#include "ge/session/compiled.h"

namespace ge {

// Times every offer that may come into question and that the cache does not know yet, the heaviest
// nodes first, until the budget is used up. An offer that cannot run alone keeps its price.
MeasureReport MeasureOffers(const std::vector<std::unique_ptr<Engine>>& engines, const Graph& graph,
                            const Function& function, const std::vector<PlanLayout>& layouts,
                            GraphView* view, const OfferSet& offers, PriceCache* cache,
                            double budget_ms);

// What the runs of a plan showed: a segment of one offer as that offer's price, a larger one split
// by how long its offers take alone. Offers of which that is not known yet are timed within the
// budget. Does nothing when there was no timed run since the last call.
void RecordRuns(const std::vector<std::unique_ptr<Engine>>& engines, Compiled* compiled,
                PriceCache* cache, double observe_budget_ms);

}  // namespace ge
