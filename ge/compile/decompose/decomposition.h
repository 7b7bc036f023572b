// Decides for each node with a decomposition (OpDef::decompose) whether it stays whole or becomes
// its parts. One placement is solved on the graph with all of them expanded. An offer for a whole
// node stands in it as a pattern over the node's parts, so prices of both forms and of their
// surroundings decide together. The cover found is the plan: the caller asks again on the resulting
// graph and takes that cover there. Functions only; the caller owns everything; one thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/compile/decompose/expansion.h"
#include "ge/compile/decompose/market_cover.h"
#include "ge/engine/engine.h"
#include "ge/engine/offers.h"
#include "ge/ir/graph.h"
#include "ge/plan/plan.h"
#include "ge/price/links.h"

namespace ge {

// Asks every engine of the session about a function; layouts are interned into *layouts.
using AskEngines = std::function<Status(const Graph& graph, const Function& function,
                                        std::vector<PlanLayout>* layouts, OfferSet* offers)>;

// The engines' answers about a graph.
struct AskedOffers {
  OfferSet offers;
  std::vector<PlanLayout> layouts;
};

// By node of the resulting graph: "kept: 120 ns against 400 ns for its parts".
using DecompositionNotes = std::map<NodeId, std::string>;

// True when there is a choice.
bool HasDecompositions(const Graph& graph, const Function& function);

// Prices alone decide, not policies; nodes of `whole` stay whole at any price, since pins
// bind them. A graph without a cover stays as it is: PLACE names the node that no engine
// takes. *expanded: nodes that became parts. *cover: the cheapest cover, unless all nodes are
// plainly cheaper whole, which needs no search. *asked: the offers for the graph, where it
// stays. `cache` corrects links; null: they count as engines tell them.
Status ChooseDecompositions(const EngineList& engines, const PriceCache* cache,
                            const AskEngines& ask, const FloatsOfWeight& floats, Graph* graph,
                            FunctionId fn, const std::vector<NodeId>& whole,
                            std::vector<NodeId>* expanded, DecompositionNotes* notes,
                            MarketCover* cover, std::optional<AskedOffers>* asked);

// Expands just these nodes, as ChooseDecompositions did before on the same graph (its *expanded),
// so the resulting nodes have the same ids. Skips ids of no such node. Each part gets the note
// `why`.
Status ExpandAgain(const FloatsOfWeight& floats, Graph* graph, FunctionId fn,
                   const std::vector<NodeId>& which, const std::string& why,
                   DecompositionNotes* notes);

// Expands every node that has a decomposition; each part gets the note `why`. False when there was
// none.
Result<bool> ExpandAll(const FloatsOfWeight& floats, Graph* graph, FunctionId fn,
                       const std::string& why, DecompositionNotes* notes);

// Makes constants of all quantized weights. Where prices alone do not decide the placement, engines
// must find the floats that they expect.
Status FoldQuantizedWeights(const FloatsOfWeight& floats, Graph* graph, FunctionId fn);

}  // namespace ge
