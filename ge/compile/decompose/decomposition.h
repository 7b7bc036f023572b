// Which nodes that carry a decomposition (OpDef::decompose) stay whole and which become their
// parts. One placement is solved on the graph with every one of them expanded, in which an offer
// for a whole node stands as a pattern over its parts, so that the prices of both ways and of what
// is around them decide together. Its cover is the plan: the caller asks again on the graph that
// comes out and takes that cover there. Functions only; the caller owns everything; one thread.
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

namespace ge {

// Asks every engine of the session about a function; layouts are interned into *layouts.
using AskEngines = std::function<Status(const Graph& graph, const Function& function,
                                        std::vector<PlanLayout>* layouts, OfferSet* offers)>;

// What engines answered about a graph.
struct AskedOffers {
  OfferSet offers;
  std::vector<PlanLayout> layouts;
};

// By node of the graph that came out: "kept: 120 ns against 400 ns for its parts".
using DecompositionNotes = std::map<NodeId, std::string>;

// True when there is anything to choose.
bool HasDecompositions(const Graph& graph, const Function& function);

// Policies play no part: what is placed depends on prices alone; `whole` are nodes that stay so
// whatever that costs, since pins bind them. Leaves a graph that no
// way covers as it is: PLACE says which node nobody takes. *expanded: which became parts. *cover:
// what was found cheapest, unless all nodes are plainly cheaper whole, which takes no search.
// *asked: the offers for the graph as it stays, where it does.
Status ChooseDecompositions(const EngineList& engines, const AskEngines& ask,
                            const FloatsOfWeight& floats, Graph* graph, FunctionId fn,
                            const std::vector<NodeId>& whole, std::vector<NodeId>* expanded,
                            DecompositionNotes* notes, MarketCover* cover,
                            std::optional<AskedOffers>* asked);

// Expands just these nodes, as ChooseDecompositions once did on the same graph (its *expanded), so
// that the nodes that come out have the same ids. Ids that name no such node are passed over. Each
// part gets the note `why`.
Status ExpandAgain(const FloatsOfWeight& floats, Graph* graph, FunctionId fn,
                   const std::vector<NodeId>& which, const std::string& why,
                   DecompositionNotes* notes);

// Expands every node that has a decomposition; each part gets the note `why`. False when there was
// none.
Result<bool> ExpandAll(const FloatsOfWeight& floats, Graph* graph, FunctionId fn,
                       const std::string& why, DecompositionNotes* notes);

// Makes constants of all quantized weights: where prices alone do not decide who takes a node, an
// engine must find the floats that it expects.
Status FoldQuantizedWeights(const FloatsOfWeight& floats, Graph* graph, FunctionId fn);

}  // namespace ge
