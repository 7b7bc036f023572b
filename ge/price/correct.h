// Corrects engines' prices by the price cache: a row of exactly this offer, else the usual error of
// the engine on such work. It neither measures nor places. Stateless.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "ge/engine/engine.h"
#include "ge/engine/offers.h"
#include "ge/ir/graph.h"
#include "ge/price/price_cache.h"

namespace ge {

// The cache's name for an engine's device, with its options, since they may change kernels.
PriceBook BookOf(const Engine& engine, uint32_t device);

// Changes setup, marginal, launch, edge saving and source of every offer with a known correction,
// and fills in measured_ns, inside_ns and factor. May be called again after the cache has learned:
// it starts from the prices asked by engines.
void CorrectPrices(const EngineList& engines, const PriceCache& cache, const Graph& graph,
                   const Function& function, const std::vector<PlanLayout>& layouts,
                   OfferSet* offers);

// The same; `book_of` names the device of an offer for the cache.
void CorrectPrices(const std::function<const PriceBook&(const Offer&)>& book_of,
                   const PriceCache& cache, const Graph& graph, const Function& function,
                   const std::vector<PlanLayout>& layouts, OfferSet* offers);

}  // namespace ge
