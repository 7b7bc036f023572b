// How a session learns prices: before PLACE by timing single offers (`measure`), after runs from
// their clocks (`cached`). Results go into the price cache; nothing is placed here. Used by one
// thread at a time, under the session's compile lock.
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
  // Only offers that may win by their corrected price and were never timed alone.
  bool rivals_only = false;
  // Offers within this factor of the cheapest at corrected prices may be faster: these prices err
  // by up to so much where nothing similar was measured at that size; see PriceFit.
  double rival = 4;
  bool again = false;           // also known offers: new samples are added to the old
  std::vector<ge_buf> between;  // see OfferTimer::ReadBetween
  // Samples of a busy machine count in this session all the same; see PriceCache::Add.
  bool trusted_now = true;
  // Asked after timing: whether the machine was busy, so the rows are doubtful. Null = whether this
  // process was driven off its processors meanwhile.
  std::function<bool()> busy;
};

// Times every possible offer that the cache does not know yet, the heaviest nodes first, until the
// budget is used up: offers asking up to 32 times the least of their nodes, and offers within four
// times of the cheapest at corrected prices, which change as offers are timed. An offer that cannot
// run alone keeps its price.
MeasureReport MeasureOffers(const EngineList& engines, const Graph& graph, const Function& function,
                            const std::vector<PlanLayout>& layouts, GraphView* view,
                            const OfferSet& offers, PriceCache* cache,
                            const MeasureOptions& options);

// Learns from the runs of a plan: a segment of one offer gives that offer's price, a larger one is
// split by the times of its offers alone. Times offers without such a time within the budget. Does
// nothing when there was no timed run since the last call. `busy`: doubtful rows. `links`: notes
// copies and waits too (record_links.h).
void RecordRuns(const EngineList& engines, Compiled* compiled, PriceCache* cache,
                double observe_budget_ms, bool busy, bool links);

}  // namespace ge
