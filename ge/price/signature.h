// The name of an offer in the price cache: its computation, apart from the shape, and the shape.
// Two offers of one device with equal names take equally long on one machine, in any model.
// Readable text, since it stands in the cache file. Stateless.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ge/engine/offers.h"
#include "ge/ir/graph.h"
#include "ge/plan/plan.h"

namespace ge {

struct OfferName {
  std::string family;     // "Conv+Relu", "Conv/grouped": operators alone
  std::string signature;  // operators, attributes, wiring, dtypes, constants, layouts
  std::string shape;      // dims of values read and given
  double size = 0;        // log2 of the bytes read and given
};

// Names of the offers of one set of nodes, which differ in their layouts: the nodes' part is
// written once. `rounds`: of Offer; such offers are a family of their own.
class OfferNames {
 public:
  OfferNames(const Graph& graph, const Function& function, const std::vector<uint32_t>& nodes,
             bool rounds);
  ~OfferNames();
  OfferNames(const OfferNames&) = delete;
  OfferNames& operator=(const OfferNames&) = delete;

  // Stays where it is.
  const OfferName& With(const std::vector<std::pair<ValueId, LayoutId>>& value_layouts,
                        const std::vector<PlanLayout>& layouts);

 private:
  class Namer;
  std::unique_ptr<const Namer> namer_;
  std::map<std::vector<std::pair<ValueId, LayoutId>>, OfferName> with_;  // layouts but plain ones
};

// One of them.
OfferName NameOffer(const Graph& graph, const Function& function,
                    const std::vector<uint32_t>& nodes,
                    const std::vector<std::pair<ValueId, LayoutId>>& value_layouts,
                    const std::vector<PlanLayout>& layouts, bool rounds = false);

}  // namespace ge
