#include "ge/place/moves.h"

#include <algorithm>

namespace ge::place {
namespace {

// Offers by the place of their first node, so that a sweep follows the data.
std::vector<uint32_t> SweepOrder(const Model& m) {
  std::vector<uint32_t> offers;
  for (uint32_t node : m.order) {
    for (uint32_t o : m.node_offers[node]) {
      if (m.offers[o].parts[0].node == node) offers.push_back(o);
    }
  }
  return offers;
}

bool SweepOffers(const Model& m, const std::vector<uint32_t>& offers, uint64_t limit,
                 Arrangement* cover) {
  bool gained = false;
  for (uint32_t o : offers) {
    if (cover->Spent(limit)) break;
    const bool taken = cover->OfferAt(m.offers[o].parts[0].node) == o;
    if (taken && !m.offers[o].growable) continue;
    // Small gains below the rounding of the sum are not worth a try.
    if (!taken && cover->Hope(o) <= 1e-9) continue;
    bool kept = !taken && cover->Try({o});
    // Placed anew, it may grow towards its readers instead of its sources.
    if (!kept && m.offers[o].growable) kept = cover->Try({o}, true);
    gained = gained || kept;
  }
  return gained;
}

bool SweepMerges(const Model& m, uint64_t limit, Arrangement* cover) {
  bool gained = false;
  for (const ModelValue& value : m.values) {
    if (value.producer < 0) continue;
    for (uint32_t user : value.users) {
      if (cover->Spent(limit)) return gained;
      const uint32_t maker = cover->OfferAt(static_cast<uint32_t>(value.producer));
      gained = cover->TryMerge(maker, cover->OfferAt(user)) || gained;
    }
  }
  return gained;
}

// A boundary that hurts goes away when both sides move together: both to the same device.
bool SweepPairs(const Model& m, uint64_t limit, Arrangement* cover) {
  bool gained = false;
  for (uint32_t v = 0; v < m.values.size(); ++v) {
    const ModelValue& value = m.values[v];
    if (value.producer < 0 || cover->value_cost(v) <= 0) continue;
    for (uint32_t a : m.node_offers[value.producer]) {
      for (uint32_t user : value.users) {
        for (uint32_t b : m.node_offers[user]) {
          if (cover->Spent(limit)) return gained;
          if (a == b || m.offers[a].device != m.offers[b].device) continue;
          const double hope = cover->Hope(a) + cover->Hope(b) + cover->value_cost(v);
          if (hope > 1e-9) gained = cover->Try({a, b}) || gained;
        }
      }
    }
  }
  return gained;
}

}  // namespace

bool ImproveByMoves(const Model& m, uint64_t work, Arrangement* cover) {
  const std::vector<uint32_t> offers = SweepOrder(m);
  const uint64_t limit = cover->work() + work;
  bool any = false;
  constexpr int kSweeps = 20;  // each must gain; in practice three or four do
  for (int sweep = 0; sweep < kSweeps && !cover->Spent(limit); ++sweep) {
    bool gained = SweepOffers(m, offers, limit, cover);
    gained = SweepMerges(m, limit, cover) || gained;
    if (!gained) gained = SweepPairs(m, limit, cover);
    if (!gained) break;
    any = true;
    cover->Refresh();
  }
  return any;
}

}  // namespace ge::place
