// Corrects what engines ask by what the price cache knows: a row of exactly this offer, else the
// usual error of the engine on such work. It neither measures nor places. Stateless.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "ge/engine/engine.h"
#include "ge/engine/offers.h"
#include "ge/ir/graph.h"
#include "ge/price/price_cache.h"

namespace ge {

// How the cache calls an engine's device: options are part of it, since they may change what runs.
PriceBook BookOf(const Engine& engine, uint32_t device);

// Changes setup, marginal, launch, edge saving and source of every offer that something is known
// about, and fills in measured_ns, inside_ns and factor. May be called again after the cache has
// learned: it starts from what the engines asked.
void CorrectPrices(const EngineList& engines, const PriceCache& cache, const Graph& graph,
                   const Function& function, const std::vector<PlanLayout>& layouts,
                   OfferSet* offers);

// The same where `book_of` says how the cache calls the device of an offer.
void CorrectPrices(const std::function<const PriceBook&(const Offer&)>& book_of,
                   const PriceCache& cache, const Graph& graph, const Function& function,
                   const std::vector<PlanLayout>& layouts, OfferSet* offers);

}  // namespace ge
