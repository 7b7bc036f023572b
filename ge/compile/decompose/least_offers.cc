#include "ge/compile/decompose/least_offers.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ge {

std::vector<double> LeastOf(const OfferSet& offers, size_t nodes) {
  std::vector<double> least(nodes, std::numeric_limits<double>::infinity());
  for (const Offer& o : offers.offers) {
    if (o.convert || o.nodes.empty()) continue;
    for (const OfferChoice& c : o.choices) {
      const double whole = c.marginal_ns + (o.growable ? 0 : o.setup_ns + o.launch_ns);
      const double share = whole / static_cast<double>(o.nodes.size());
      for (uint32_t n : o.nodes) least[n] = std::min(least[n], share);
    }
  }
  return least;
}

double FloorOf(const OfferSet& offers, size_t nodes) {
  double sum = 0;
  for (double ns : LeastOf(offers, nodes)) sum += std::isfinite(ns) ? ns : 0;
  return sum;
}

}  // namespace ge
