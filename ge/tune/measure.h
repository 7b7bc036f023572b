// What a session learns about prices: before PLACE by timing offers alone (`measure`), after runs
// from their clocks (`cached`). Results go into the price cache; nothing is placed here.
// Used by one thread at a time, under the session's compile lock.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "ge/compile/compiled/compiled.h"
#include "ge/engine/engine.h"
#include "ge/engine/offers.h"
#include "ge/engine/view.h"
#include "ge/price/price_cache.h"

namespace ge {

struct MeasureOptions {
  double budget_ms = 0;
  // Only what may win by its corrected price, and was never timed by itself.
  bool rivals_only = false;
  // Who is within this factor of the cheapest at corrected prices may be faster: these are wrong by
  // up to so much where nothing of the like was measured at that size; see PriceFit.
  double rival = 4;
  bool again = false;           // also what is known: new samples are added to those there are
  std::vector<ge_buf> between;  // see OfferTimer::ReadBetween
  // What is measured on a busy machine counts in this session all the same; see PriceCache::Add.
  bool trusted_now = true;
  // Asked when all is timed: whether the machine was busy, so that the rows are doubtful. Null =
  // as this process was driven off its processors meanwhile.
  std::function<bool()> busy;
};

// Times every offer that may come into question and that the cache does not know yet, the heaviest
// nodes first, until the budget is used up: those that ask up to 32 times the least of their nodes,
// and those within four times of the cheapest once prices are corrected by what is known, which
// changes with what is timed. An offer that cannot run alone keeps its price.
MeasureReport MeasureOffers(const EngineList& engines, const Graph& graph, const Function& function,
                            const std::vector<PlanLayout>& layouts, GraphView* view,
                            const OfferSet& offers, PriceCache* cache,
                            const MeasureOptions& options);

// What the runs of a plan showed: a segment of one offer as that offer's price, a larger one split
// by how long its offers take alone. Offers of which that is not known yet are timed within the
// budget. Does nothing when there was no timed run since the last call. `busy`: doubtful rows.
void RecordRuns(const EngineList& engines, Compiled* compiled, PriceCache* cache,
                double observe_budget_ms, bool busy);

}  // namespace ge
