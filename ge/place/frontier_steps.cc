#include "ge/place/frontier_steps.h"

#include <algorithm>

namespace ge::place {
namespace {

// What the readers of a value after some position may want of it.
struct Wish {
  uint32_t position = 0;  // of the reader
  uint32_t places = 0;
  uint64_t grow = 0;
};

std::vector<Wish> WishesFor(const Model& m, const std::vector<bool>& allowed, uint32_t v) {
  std::vector<Wish> wishes;
  for (uint32_t user : m.values[v].users) {
    Wish w;
    w.position = m.position[user];
    for (uint32_t o : m.node_offers[user]) {
      if (!allowed[o]) continue;
      const Touch* t = TouchOf(PartAt(m, m.offers[o], user).reads, v);
      if (!t) continue;
      w.places |= uint32_t{1} << t->place;
      if (m.offers[o].growable) w.grow |= uint64_t{1} << m.offers[o].device;
    }
    wishes.push_back(w);
  }
  std::sort(wishes.begin(), wishes.end(),
            [](const Wish& a, const Wish& b) { return a.position < b.position; });
  for (size_t i = wishes.size(); i-- > 1;) {  // each holds what it and all after it want
    wishes[i - 1].places |= wishes[i].places;
    wishes[i - 1].grow |= wishes[i].grow;
  }
  return wishes;
}

template <typename T>
uint32_t IndexIn(const std::vector<T>& sorted, T x) {
  return static_cast<uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), x) - sorted.begin());
}

void SortUnique(std::vector<double>* v) {
  std::sort(v->begin(), v->end());
  v->erase(std::unique(v->begin(), v->end()), v->end());
}

double Savable(const Model& m, const ModelOffer& offer, const OfferPart& part) {
  double sum = 0;
  for (const Touch& t : part.gives) {
    if (!m.values[t.value].users.empty()) sum += offer.edge_saving;
  }
  return sum;
}

// Whether one pattern reaches another, by walks that together look at no more than kMost nodes: two
// interleaved patterns of a whole graph would take their product.
class Reach {
 public:
  explicit Reach(const Model& m) : m_(m), seen_(m.n_node, 0) {}

  bool exhausted() const { return looked_ > kMost; }

  // True also when exhausted.
  bool Leads(const ModelOffer& from, const ModelOffer& to) {
    const uint32_t last = m_.position[to.parts.back().node];
    ++stamp_;
    stack_.clear();
    auto push = [&](uint32_t node) {
      if (m_.position[node] > last || seen_[node] == stamp_) return;
      seen_[node] = stamp_;
      stack_.push_back(node);
    };
    looked_ += from.parts.size() + to.parts.size();
    for (const OfferPart& part : from.parts) push(part.node);
    while (!stack_.empty() && !exhausted()) {
      const uint32_t node = stack_.back();
      stack_.pop_back();
      for (uint32_t v : m_.node_gives[node]) {
        looked_ += 1 + m_.values[v].users.size();
        for (uint32_t user : m_.values[v].users) push(user);
      }
    }
    if (exhausted()) return true;
    return std::any_of(to.parts.begin(), to.parts.end(),
                       [&](const OfferPart& part) { return seen_[part.node] == stamp_; });
  }

 private:
  static constexpr uint64_t kMost = 20'000'000;  // about 0.1 s; reference networks need 10,000
  const Model& m_;
  std::vector<uint32_t> seen_;  // by node: stamp of the last walk
  std::vector<uint32_t> stack_;
  uint32_t stamp_ = 0;
  uint64_t looked_ = 0;
};

}  // namespace

bool FrontierTables::Prepare(const Model& m, const std::vector<bool>& allowed) {
  if (m.n_device > 64) return false;
  for (const ModelValue& value : m.values) {
    if (value.places.size() > kMaxPlaces) return false;
  }
  for (const ModelOffer& offer : m.offers) {
    for (const OfferPart& part : offer.parts) {
      if (part.reads.size() > 64) return false;  // FrontierBack::joined has 64 bits
    }
  }
  if (!MakePrices(m, allowed) || !MakeSteps(m, allowed)) return false;
  MakeBounds(m, allowed);
  MakeCyclicPairs(m, allowed);
  return true;
}

bool FrontierTables::MakePrices(const Model& m, const std::vector<bool>& allowed) {
  savings.push_back(0);
  for (uint32_t o = 0; o < m.offers.size(); ++o) {
    if (!allowed[o] || !m.offers[o].usable) continue;
    setups.push_back(m.offers[o].setup);
    launches.push_back(m.offers[o].launch);
    savings.push_back(m.offers[o].edge_saving);
  }
  SortUnique(&setups);
  SortUnique(&launches);
  SortUnique(&savings);
  if (savings.size() > 0xffff) return false;
  for (const ModelOffer& offer : m.offers) {
    setup_of.push_back(IndexIn(setups, offer.setup));
    launch_of.push_back(IndexIn(launches, offer.launch));
    saving_of.push_back(static_cast<uint16_t>(IndexIn(savings, offer.edge_saving)));
  }
  return true;
}

bool FrontierTables::MakeSteps(const Model& m, const std::vector<bool>& allowed) {
  std::vector<std::vector<Wish>> wishes(m.values.size());
  std::vector<uint32_t> last(m.values.size(), 0);
  for (uint32_t v = 0; v < m.values.size(); ++v) {
    wishes[v] = WishesFor(m, allowed, v);
    if (!wishes[v].empty()) last[v] = wishes[v].back().position;
  }
  std::vector<uint32_t> live;
  for (uint32_t p = 0; p < m.n_node; ++p) {
    FrontierStep step;
    step.node = m.order[p];
    for (uint32_t v : live) {
      const bool stays = last[v] > p;
      step.moved.push_back(stays ? static_cast<int16_t>(step.live.size()) : kNoSlot);
      if (stays) step.live.push_back(v);
    }
    auto add = [&](uint32_t v) {
      if (last[v] > p && !wishes[v].empty()) step.live.push_back(v);
    };
    for (uint32_t v : m.node_reads[step.node]) {
      if (m.values[v].producer < 0 && std::find(live.begin(), live.end(), v) == live.end()) add(v);
    }
    for (uint32_t v : m.node_gives[step.node]) add(v);
    if (step.live.size() > kMaxSlots) return false;
    for (uint32_t v : step.live) {
      auto next =
          std::upper_bound(wishes[v].begin(), wishes[v].end(), p,
                           [](uint32_t position, const Wish& w) { return position < w.position; });
      step.places.push_back(next->places);
      step.grow.push_back(next->grow);
    }
    for (uint32_t o : m.node_offers[step.node]) {
      if (allowed[o] && m.offers[o].parts[0].node == step.node) step.starts.push_back(o);
    }
    live = step.live;
    steps.push_back(std::move(step));
  }
  return true;
}

void FrontierTables::MakeBounds(const Model& m, const std::vector<bool>& allowed) {
  std::vector<double> share(m.n_node, kInfinity);
  for (uint32_t o = 0; o < m.offers.size(); ++o) {
    const ModelOffer& offer = m.offers[o];
    if (!allowed[o] || !offer.usable) continue;
    double price = offer.growable ? offer.marginal : offer.Alone();
    for (const OfferPart& part : offer.parts) price -= Savable(m, offer, part);
    for (const OfferPart& part : offer.parts) {
      share[part.node] =
          std::min(share[part.node], price / static_cast<double>(offer.parts.size()));
    }
  }
  for (double& s : share) s = s == kInfinity ? 0 : s;
  least_after.assign(m.n_node + 1, 0);
  for (uint32_t p = m.n_node; p-- > 0;) {
    least_after[p] = least_after[p + 1] + share[m.order[p]];
  }
  credit.resize(m.offers.size());
  for (uint32_t o = 0; o < m.offers.size(); ++o) {
    const ModelOffer& offer = m.offers[o];
    credit[o].assign(offer.parts.size(), 0);
    for (size_t k = offer.parts.size(); k-- > 1;) {
      credit[o][k - 1] =
          credit[o][k] + share[offer.parts[k].node] + Savable(m, offer, offer.parts[k]);
    }
  }
}

void FrontierTables::MakeCyclicPairs(const Model& m, const std::vector<bool>& allowed) {
  std::vector<uint32_t> patterns;
  for (uint32_t o = 0; o < m.offers.size(); ++o) {
    if (allowed[o] && m.offers[o].usable && m.offers[o].parts.size() > 1) patterns.push_back(o);
  }
  auto first = [&m](uint32_t o) { return m.position[m.offers[o].parts.front().node]; };
  auto last = [&m](uint32_t o) { return m.position[m.offers[o].parts.back().node]; };
  std::stable_sort(patterns.begin(), patterns.end(),
                   [&](uint32_t a, uint32_t b) { return first(a) < first(b); });
  Reach reach(m);
  for (size_t i = 0; i < patterns.size(); ++i) {
    for (size_t j = i + 1; j < patterns.size() && first(patterns[j]) < last(patterns[i]); ++j) {
      const ModelOffer &a = m.offers[patterns[i]], &b = m.offers[patterns[j]];
      if (ShareNode(m, a, b) || !reach.Leads(a, b) || !reach.Leads(b, a)) continue;
      cyclic_pairs.push_back(std::minmax(patterns[i], patterns[j]));
    }
  }
  all_pairs_known = !reach.exhausted();
  std::sort(cyclic_pairs.begin(), cyclic_pairs.end());
}

}  // namespace ge::place
