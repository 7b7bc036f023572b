// ImproveByCuts and ImproveByLayouts: which taken offers should switch to one device and layout, or
// to one layout where they are, is, but for setups and savings, a minimum cut. The cut proposes;
// the arrangement's exact cost decides.
#include <algorithm>

// Boost 1.74 keeps an edge iterator in an optional that GCC 12 takes for uninitialised.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>

#include "ge/base/interrupt.h"
#include "ge/place/moves.h"

namespace ge::place {
namespace {

constexpr double kNever = 1e15;  // ns; stands for infinity, which max-flow cannot add

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using FlowGraph = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::directedS,
    boost::property<
        boost::vertex_color_t, boost::default_color_type,
        boost::property<boost::vertex_distance_t, long,
                        boost::property<boost::vertex_predecessor_t, Traits::edge_descriptor>>>,
    boost::property<
        boost::edge_capacity_t, double,
        boost::property<boost::edge_residual_capacity_t, double,
                        boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;

// Vertices 0 and 1 are source (keep) and sink (switch).
class Cut {
 public:
  explicit Cut(size_t n) : graph_(n + 2), keep_price_(n, 0), switch_price_(n, 0) {}

  void PayIfKept(uint32_t x, double price) { Pay(&keep_price_, x, price); }
  void PayIfSwitched(uint32_t x, double price) { Pay(&switch_price_, x, price); }
  // Prices of (p keeps, q keeps), (p keeps, q switches), (p switches, q keeps), (both switch).
  // What a cut cannot express (both alike dearer than mixed) is rounded up.
  void PayPair(uint32_t p, uint32_t q, double kk, double ks, double sk, double ss) {
    PayIfSwitched(p, sk - kk);
    PayIfSwitched(q, ss - sk);
    const double mixed = ks + sk - kk - ss;
    if (mixed > 0) AddEdge(p + 2, q + 2, mixed);
  }

  // True for each vertex that switches.
  std::vector<bool> Solve() {
    for (uint32_t x = 0; x < keep_price_.size(); ++x) {
      const double diff = switch_price_[x] - keep_price_[x];
      if (diff > 0) AddEdge(0, x + 2, diff);
      if (diff < 0) AddEdge(x + 2, 1, -diff);
    }
    boost::boykov_kolmogorov_max_flow(graph_, Traits::vertex_descriptor(0),
                                      Traits::vertex_descriptor(1));
    auto color = boost::get(boost::vertex_color, graph_);
    std::vector<bool> switched(keep_price_.size());
    for (uint32_t x = 0; x < switched.size(); ++x) {
      switched[x] = boost::get(color, x + 2) == boost::white_color;  // reaches the sink's tree only
    }
    return switched;
  }

 private:
  void Pay(std::vector<double>* prices, uint32_t x, double price) {
    (*prices)[x] += std::clamp(price, -kNever, kNever);
  }

  void AddEdge(size_t from, size_t to, double capacity) {
    auto forth = boost::add_edge(from, to, graph_).first;
    auto back = boost::add_edge(to, from, graph_).first;
    boost::put(boost::edge_capacity, graph_, forth, capacity);
    boost::put(boost::edge_capacity, graph_, back, 0.0);
    boost::put(boost::edge_reverse, graph_, forth, back);
    boost::put(boost::edge_reverse, graph_, back, forth);
  }

  FlowGraph graph_;
  std::vector<double> keep_price_, switch_price_;
};

struct Label {
  uint32_t device = 0;  // kNone: each offer's own, for the same nodes
  uint32_t layout = 0;
  double fixed = 0;  // share of setup and launch that a growable offer is thought to pay
};

uint32_t PlaceOf(const Model& m, uint32_t offer, uint32_t node, uint32_t value, bool gives) {
  const OfferPart& part = PartAt(m, m.offers[offer], node);
  const Touch* t = TouchOf(gives ? part.gives : part.reads, value);
  return t ? t->place : 0;
}

double Price(const ModelOffer& o, double fixed) {
  return o.marginal + (o.growable ? fixed : 1.0) * (o.setup + o.launch);
}

bool SameNodes(const ModelOffer& a, const ModelOffer& b) {
  return std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(),
                    [](const OfferPart& x, const OfferPart& y) { return x.node == y.node; });
}

// The offer that fits the label's layout best, kNone when there is none: a single one of the
// label's device, or one of the device and the nodes of the offer that is taken now.
uint32_t OfferFor(const Model& m, const Label& label, uint32_t node, uint32_t taken) {
  uint32_t best = kNone;
  double best_price = kInfinity;
  const bool stays = label.device == kNone;
  const uint32_t device = stays ? m.offers[taken].device : label.device;
  const std::pair<uint32_t, uint32_t> spot(m.domain[device], label.layout);
  for (uint32_t o : m.node_offers[node]) {
    const ModelOffer& offer = m.offers[o];
    if (offer.device != device) continue;
    if (stays ? !SameNodes(offer, m.offers[taken]) : offer.parts.size() != 1) continue;
    double price = Price(offer, label.fixed);
    auto add = [&](const Touch& t, bool gives) {
      const ModelValue& value = m.values[t.value];
      auto it = std::find(value.places.begin(), value.places.end(), spot);
      if (it == value.places.end()) return;
      const uint32_t there = static_cast<uint32_t>(it - value.places.begin());
      price += std::min(kNever, gives ? value.Cost(t.place, there) : value.Cost(there, t.place));
    };
    for (const OfferPart& part : offer.parts) {
      for (const Touch& t : part.reads) add(t, false);
      for (const Touch& t : part.gives) add(t, true);
    }
    if (price < best_price) {
      best = o;
      best_price = price;
    }
  }
  return best;
}

class Expansion {
 public:
  Expansion(const Model& m, const Label& label, const Arrangement& cover)
      : m_(m), label_(label), cover_(cover), unit_(m.offers.size(), kNone) {
    new_offer_.resize(m.n_node, kNone);
    for (uint32_t node : m.order) {
      const uint32_t o = cover.OfferAt(node);
      new_offer_[node] = OfferFor(m, label, node, o);
      if (unit_[o] != kNone) continue;
      unit_[o] = static_cast<uint32_t>(units_.size());
      units_.push_back(o);
    }
  }

  // The offers to take instead, one list for each connected region that switches.
  std::vector<std::vector<uint32_t>> Propose() {
    Cut cut(units_.size());
    for (uint32_t u = 0; u < units_.size(); ++u) AddUnit(u, &cut);
    for (uint32_t v = 0; v < m_.values.size(); ++v) AddValue(v, &cut);
    switched_ = cut.Solve();
    return Regions();
  }

 private:
  void AddUnit(uint32_t u, Cut* cut) {
    const ModelOffer& old = m_.offers[units_[u]];
    const double members = static_cast<double>(cover_.MembersOf(units_[u]).size());
    cut->PayIfKept(u, Price(old, 1.0 / members));
    double fresh = 0;
    bool changes = false;
    uint32_t before = kNone;
    for (const OfferPart& part : old.parts) {
      const uint32_t o = new_offer_[part.node];
      if (o == kNone) fresh += kNever;
      if (o != kNone && o != before) fresh += Price(m_.offers[o], label_.fixed);
      changes = changes || o != units_[u];
      before = o;
    }
    cut->PayIfSwitched(u, changes ? fresh : kNever);
  }

  // What bringing the value costs when its maker and one reader take these offers.
  double Bring(uint32_t v, uint32_t maker, uint32_t reader, uint32_t reader_node, bool same_group,
               bool may_merge) const {
    const ModelValue& value = m_.values[v];
    if (maker == kNone || reader == kNone) return kNever;
    if (maker == reader) return 0;
    const uint32_t node = static_cast<uint32_t>(value.producer);
    const ModelOffer &a = m_.offers[maker], &b = m_.offers[reader];
    if (same_group || (may_merge && a.growable && b.growable && a.device == b.device)) {
      return -a.edge_saving;
    }
    return std::min(kNever, value.Cost(PlaceOf(m_, maker, node, v, true),
                                       PlaceOf(m_, reader, reader_node, v, false)));
  }

  void AddValue(uint32_t v, Cut* cut) {
    const ModelValue& value = m_.values[v];
    if (value.producer < 0) {
      for (uint32_t user : value.users) {
        const uint32_t old = cover_.OfferAt(user), fresh = new_offer_[user];
        cut->PayIfKept(unit_[old], value.Cost(0, PlaceOf(m_, old, user, v, false)));
        if (fresh == kNone) continue;
        cut->PayIfSwitched(unit_[old], value.Cost(0, PlaceOf(m_, fresh, user, v, false)));
      }
      return;
    }
    const uint32_t node = static_cast<uint32_t>(value.producer);
    const uint32_t old = cover_.OfferAt(node), fresh = new_offer_[node];
    if (value.is_output) {
      cut->PayIfKept(unit_[old], value.Cost(PlaceOf(m_, old, node, v, true), 0));
      if (fresh != kNone) {
        cut->PayIfSwitched(unit_[old], value.Cost(PlaceOf(m_, fresh, node, v, true), 0));
      }
    }
    // A value is brought once however many read it, so each reader pays a part.
    const double part = value.users.empty() ? 1 : 1.0 / static_cast<double>(value.users.size());
    for (uint32_t user : value.users) {
      const uint32_t reader = cover_.OfferAt(user), other = new_offer_[user];
      if (reader == old) continue;
      const bool together = cover_.GroupOf(old) == cover_.GroupOf(reader);
      cut->PayPair(unit_[old], unit_[reader], part * Bring(v, old, reader, user, together, false),
                   part * Bring(v, old, other, user, false, true),
                   part * Bring(v, fresh, reader, user, false, true),
                   part * Bring(v, fresh, other, user, false, true));
    }
  }

  std::vector<std::vector<uint32_t>> Regions() const {
    std::vector<std::vector<uint32_t>> regions;
    std::vector<bool> seen(units_.size(), false);
    std::vector<uint32_t> stack;
    for (uint32_t first = 0; first < units_.size(); ++first) {
      if (!switched_[first] || seen[first]) continue;
      regions.emplace_back();
      seen[first] = true;
      stack.push_back(first);
      bool possible = true;
      auto visit = [&](uint32_t node) {
        const uint32_t u = unit_[cover_.OfferAt(node)];
        if (!switched_[u] || seen[u]) return;
        seen[u] = true;
        stack.push_back(u);
      };
      while (!stack.empty()) {
        const uint32_t u = stack.back();
        stack.pop_back();
        for (const OfferPart& part : m_.offers[units_[u]].parts) {
          std::vector<uint32_t>& region = regions.back();
          const uint32_t fresh = new_offer_[part.node];
          possible = possible && fresh != kNone;
          if (region.empty() || region.back() != fresh) region.push_back(fresh);
          for (uint32_t v : m_.node_reads[part.node]) {
            if (m_.values[v].producer >= 0) visit(static_cast<uint32_t>(m_.values[v].producer));
          }
          for (uint32_t v : m_.node_gives[part.node]) {
            for (uint32_t user : m_.values[v].users) visit(user);
          }
        }
      }
      if (!possible) regions.pop_back();
    }
    return regions;
  }

  const Model& m_;
  const Label label_;
  const Arrangement& cover_;
  std::vector<uint32_t> unit_;       // by offer
  std::vector<uint32_t> units_;      // offers taken now
  std::vector<uint32_t> new_offer_;  // by node
  std::vector<bool> switched_;
};

std::vector<Label> LabelsOf(const Model& m) {
  std::vector<Label> labels;
  std::vector<std::pair<uint32_t, uint32_t>> spots;  // (device, layout)
  for (const ModelOffer& offer : m.offers) {
    if (!offer.usable) continue;
    for (const OfferPart& part : offer.parts) {
      for (const std::vector<Touch>& touches : {part.reads, part.gives}) {
        for (const Touch& t : touches) {
          spots.emplace_back(offer.device, m.values[t.value].places[t.place].second);
        }
      }
    }
    spots.emplace_back(offer.device, 0);
    // Sorting now and then keeps the list short on large graphs.
    if (spots.size() > 4096) {
      std::sort(spots.begin(), spots.end());
      spots.erase(std::unique(spots.begin(), spots.end()), spots.end());
    }
  }
  std::sort(spots.begin(), spots.end());
  spots.erase(std::unique(spots.begin(), spots.end()), spots.end());
  constexpr size_t kMaxSpots = 24;
  if (spots.size() > kMaxSpots) spots.resize(kMaxSpots);
  for (const auto& [device, layout] : spots) {
    for (double fixed : {0.0, 0.25}) labels.push_back({device, layout, fixed});
  }
  return labels;
}

}  // namespace

bool ImproveByLayouts(const Model& m, Arrangement* cover) {
  std::vector<Label> labels;
  for (const ModelValue& value : m.values) {
    for (const auto& [domain, layout] : value.places) {
      if (layout >= labels.size()) labels.resize(layout + 1, {kNone, 0, 0.25});
    }
  }
  if (labels.size() < 2) return false;
  for (uint32_t l = 0; l < labels.size(); ++l) labels[l].layout = l;
  bool gained = false;
  for (const Label& label : labels) {
    if (Interrupted()) break;
    for (const std::vector<uint32_t>& region : Expansion(m, label, *cover).Propose()) {
      gained = cover->Try(region) || gained;
    }
  }
  if (gained) cover->Refresh();
  return gained;
}

bool ImproveByCuts(const Model& m, uint64_t work, Arrangement* cover) {
  const std::vector<Label> labels = LabelsOf(m);
  const uint64_t limit = cover->work() + work;
  uint64_t cut_work = 0;
  bool any = false;
  constexpr int kRounds = 3;
  for (int round = 0; round < kRounds; ++round) {
    bool gained = false;
    for (const Label& label : labels) {
      // Building and cutting takes about 1 us a node and value, some 40 times a look.
      cut_work += 40 * (m.n_node + m.values.size());
      if (cover->Spent(limit - std::min(limit, cut_work))) return any || gained;
      const std::vector<std::vector<uint32_t>> regions = Expansion(m, label, *cover).Propose();
      for (const std::vector<uint32_t>& region : regions) {
        gained = cover->Try(region) || gained;
      }
    }
    if (!gained) break;
    any = true;
    cover->Refresh();
  }
  return any;
}

}  // namespace ge::place
