// MarketCover: the cheapest cover that ChooseDecompositions found, in words of the graph that came
// out of it, so that PLACE need not search a second time. Offers are asked anew on that graph, and
// their numbers change, so a cover names what it takes by nodes, layouts and price. It searches
// nothing. Values; one thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ge/engine/offers.h"
#include "ge/ir/graph.h"
#include "ge/place/options.h"
#include "ge/plan/plan.h"

namespace ge {

// A value by who gives it: its node and which output, or 0 and which parameter. Stays when values
// are numbered anew.
using GivenBy = std::pair<NodeId, uint32_t>;

struct MarketCover {
  struct Taken {
    std::vector<NodeId> nodes;
    std::vector<std::pair<GivenBy, PlanLayout>> layouts;  // of its border, where not plain; sorted
    double alone_ns = 0;                                  // tells apart offers that are else alike
  };
  struct Segment {
    DeviceId device = 0;
    std::vector<Taken> offers;
  };
  std::vector<Segment> segments;
  std::string method;     // of the search; empty = there is no cover
  uint32_t searches = 0;  // that were made for it
};

// By value: who gives it.
std::vector<GivenBy> GiversOf(const Function& function);

// The layouts of a choice that are not plain, as MarketCover::Taken has them.
std::vector<std::pair<GivenBy, PlanLayout>> BorderOf(const OfferChoice& choice,
                                                     const std::vector<GivenBy>& givers,
                                                     const std::vector<PlanLayout>& layouts);

// What a plan takes of its offers, for graphs alike but for their dims: of offers that are else
// alike the cheapest is taken then.
MarketCover CoverOfPlan(const Plan& plan, const Function& function);

// The same cover of these offers; empty where one is not among them. Nodes that are gone since,
// folded away, are left out.
std::vector<PlaceSegment> CoverAmong(const MarketCover& cover, const Plan& plan,
                                     const Function& function, const OfferSet& offers);

}  // namespace ge
