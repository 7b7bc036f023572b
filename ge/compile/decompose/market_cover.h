// MarketCover: the cheapest cover found by ChooseDecompositions, in terms of the resulting graph,
// so PLACE need not search a second time. Offers are asked anew on that graph and get other
// numbers, so a cover names its offers by nodes, layouts and price. It searches nothing. Values;
// one thread.
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

// A value by its giver: a node and an output index, or 0 and a parameter index. Renumbering of
// values does not change it.
using GivenBy = std::pair<NodeId, uint32_t>;

struct MarketCover {
  struct Taken {
    std::vector<NodeId> nodes;
    std::vector<std::pair<GivenBy, PlanLayout>> layouts;  // of its border, where not plain; sorted
    double alone_ns = 0;                                  // tells apart offers otherwise alike
  };
  struct Segment {
    std::string device;  // its name: plans of a session may number their devices differently
    std::vector<Taken> offers;
  };
  std::vector<Segment> segments;
  std::string method;     // of the search; empty = there is no cover
  uint32_t searches = 0;  // made for it
};

// By value: its giver.
std::vector<GivenBy> GiversOf(const Function& function);

// The layouts of a choice other than plain, as in MarketCover::Taken.
std::vector<std::pair<GivenBy, PlanLayout>> BorderOf(const OfferChoice& choice,
                                                     const std::vector<GivenBy>& givers,
                                                     const std::vector<PlanLayout>& layouts);

// The offers taken by a plan, for graphs that differ in dims alone: of offers otherwise alike the
// cheapest is taken there.
MarketCover CoverOfPlan(const Plan& plan, const Function& function);

// The same cover among these offers; empty where one is missing. Nodes folded away since are left
// out.
std::vector<PlaceSegment> CoverAmong(const MarketCover& cover, const Plan& plan,
                                     const Function& function, const OfferSet& offers);

}  // namespace ge
