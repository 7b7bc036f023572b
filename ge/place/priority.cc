#include "ge/place/priority.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace ge {
namespace {

constexpr uint32_t kFree = ~0u;

class Greedy {
 public:
  explicit Greedy(const PlaceProblem& p)
      : problem_(p), next_(p.n_node), taken_(p.n_node, kFree), seen_(p.n_node, 0) {
    for (const PlaceValue& v : p.values) {
      if (v.producer < 0) continue;
      for (uint32_t user : v.users) next_[v.producer].push_back(user);
    }
  }

  // True when it was taken.
  bool Take(uint32_t offer) {
    const PlaceOffer& o = problem_.offers[offer];
    for (uint32_t n : o.nodes) {
      if (taken_[n] != kFree) return false;
    }
    if (o.nodes.size() > 1 && ComesBack(o)) return false;
    for (uint32_t n : o.nodes) taken_[n] = offer;
    return true;
  }

 private:
  // Whether a walk that leaves the offer returns to it, with each taken offer as one node.
  bool ComesBack(const PlaceOffer& o) {
    ++stamp_;
    auto inside = [&o](uint32_t n) {
      return std::binary_search(o.nodes.begin(), o.nodes.end(), n);
    };
    std::vector<uint32_t> stack;
    auto enter = [&](uint32_t n) {
      if (seen_[n] == stamp_) return;
      if (taken_[n] == kFree) {
        seen_[n] = stamp_;
        stack.push_back(n);
        return;
      }
      for (uint32_t member : problem_.offers[taken_[n]].nodes) {
        seen_[member] = stamp_;
        stack.push_back(member);
      }
    };
    for (uint32_t n : o.nodes) {
      for (uint32_t user : next_[n]) {
        if (!inside(user)) enter(user);
      }
    }
    while (!stack.empty()) {
      const uint32_t n = stack.back();
      stack.pop_back();
      for (uint32_t user : next_[n]) {
        if (inside(user)) return true;
        enter(user);
      }
    }
    return false;
  }

  const PlaceProblem& problem_;
  std::vector<std::vector<uint32_t>> next_;  // readers of each node's values
  std::vector<uint32_t> taken_;              // offer of each node
  std::vector<uint32_t> seen_;               // by node: stamp of the last walk
  uint32_t stamp_ = 0;
};

bool Finite(const PlaceOffer& o) { return std::isfinite(o.setup + o.marginal + o.launch); }

}  // namespace

std::vector<bool> KeepByPriority(const PlaceProblem& p, const std::vector<uint32_t>& rank) {
  std::vector<uint32_t> order(p.offers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const PlaceOffer &x = p.offers[a], &y = p.offers[b];
    if (rank[x.device] != rank[y.device]) return rank[x.device] < rank[y.device];
    if (x.nodes.size() != y.nodes.size()) return x.nodes.size() > y.nodes.size();
    return x.nodes[0] < y.nodes[0];
  });
  Greedy greedy(p);
  std::map<std::pair<uint32_t, std::vector<uint32_t>>, bool> known;  // (device, nodes) -> taken
  std::vector<bool> keep(p.offers.size(), false);
  for (uint32_t k : order) {
    const PlaceOffer& o = p.offers[k];
    if (!Finite(o)) continue;
    auto [it, fresh] = known.try_emplace({o.device, o.nodes}, false);
    if (fresh) it->second = greedy.Take(k);
    keep[k] = it->second;
  }
  return keep;
}

}  // namespace ge
