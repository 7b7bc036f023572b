// SolvePlacement against an independent dynamic programme on long chains: a cover of a chain is a
// row of intervals, each a single offer or a grown group, so intervals are enumerated outright.
#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <map>

#include "tests/unit/place_oracle.h"

namespace ge {
namespace {

using placetest::Maker;
using placetest::Recipe;
using placetest::TestProblem;

constexpr double kNever = std::numeric_limits<double>::infinity();

class ChainProgramme {
 public:
  explicit ChainProgramme(const TestProblem& t) : p_(t.problem), b_(t.boundary) {
    starting_.resize(p_.n_node);
    for (const PlaceOffer& o : p_.offers) {
      bool interval = true;
      for (size_t i = 1; i < o.nodes.size(); ++i) {
        interval = interval && o.nodes[i] == o.nodes[0] + i;
      }
      if (interval) starting_[o.nodes[0]].push_back(&o);
    }
    into_.resize(p_.n_node);
    out_of_.resize(p_.n_node);
    for (uint32_t v = 0; v < p_.values.size(); ++v) {
      for (uint32_t u : p_.values[v].users) into_[u].push_back(v);
      if (p_.values[v].producer >= 0) out_of_[p_.values[v].producer] = v;
    }
  }

  double Best() {
    // best_[i]: cheapest way to have run the nodes before i, by where the last value then is.
    std::vector<std::map<Spot, double>> best(p_.n_node + 1);
    best[0][{0, 0}] = 0;
    for (uint32_t i = 0; i < p_.n_node; ++i) {
      if (best[i].empty()) continue;
      for (const PlaceOffer* first : starting_[i]) {
        double enter = kNever;
        for (const auto& [spot, cost] : best[i]) {
          enter = std::min(enter, cost + Bring(into_[i][0], spot, SpotOf(*first, into_[i][0])));
        }
        Grow(i, first, enter, &best);
      }
    }
    double end = kNever;
    for (const auto& [spot, cost] : best[p_.n_node]) {
      end = std::min(end, cost + Bring(out_of_[p_.n_node - 1], spot, {0, 0}));
    }
    return end;
  }

 private:
  using Spot = std::pair<uint32_t, uint32_t>;  // (device, layout)

  Spot SpotOf(const PlaceOffer& o, uint32_t v) const {
    for (const auto& [value, layout] : o.layout) {
      if (value == v) return {o.device, layout};
    }
    return {o.device, 0};
  }

  double Bring(uint32_t v, Spot from, Spot to) const {
    return b_.Cost(p_.values[v].bytes, from.first, from.second, to.first, to.second);
  }

  // Every group that begins at `start` with `first`: state = (greatest setup, greatest launch,
  // last offer), cost without these two.
  void Grow(uint32_t start, const PlaceOffer* first, double enter,
            std::vector<std::map<Spot, double>>* best) const {
    using Key = std::pair<std::pair<double, double>, const PlaceOffer*>;
    std::map<uint32_t, std::map<Key, double>> open;  // by the node after the group so far
    open[start + static_cast<uint32_t>(first->nodes.size())]
        [{{first->setup, first->launch}, first}] = enter + first->marginal;
    while (!open.empty()) {
      const uint32_t end = open.begin()->first;
      const std::map<Key, double> states = std::move(open.begin()->second);
      open.erase(open.begin());
      for (const auto& [key, cost] : states) {
        const PlaceOffer* last = key.second;
        const uint32_t v = out_of_[end - 1];
        auto [it, fresh] = (*best)[end].try_emplace(SpotOf(*last, v), kNever);
        it->second = std::min(it->second, cost + key.first.first + key.first.second);
        if (end == p_.n_node || !last->growable) continue;
        for (const PlaceOffer* next : starting_[end]) {
          if (!next->growable || next->device != last->device) continue;
          const Key to{
              {std::max(key.first.first, next->setup), std::max(key.first.second, next->launch)},
              next};
          double& c = open[end + static_cast<uint32_t>(next->nodes.size())]
                          .try_emplace(to, kNever)
                          .first->second;
          c = std::min(c, cost + next->marginal - last->edge_saving);
        }
      }
    }
  }

  const PlaceProblem& p_;
  const placetest::TestBoundary& b_;
  std::vector<std::vector<const PlaceOffer*>> starting_;
  std::vector<std::vector<uint32_t>> into_;
  std::vector<uint32_t> out_of_;
};

TEST(PlaceOracle, DynamicProgrammeOn300Chains) {
  constexpr uint64_t kSeed = 31415;
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  uint64_t groups = 0, patterns = 0, exact = 0;
  for (uint64_t i = 0; i < 300; ++i) {
    Recipe r;
    r.chain = true;
    r.nodes = 200;
    r.devices = 4;
    r.domains = 2 + static_cast<uint32_t>(i % 3);
    r.layouts = 1 + static_cast<uint32_t>(i / 3 % 3);
    r.growable = 0.2 + 0.15 * static_cast<double>(i % 5);
    r.price_levels = 1 + static_cast<uint32_t>(i % 4);
    TestProblem t;
    Maker(kSeed + i, r).Make(&t);
    const double best = ChainProgramme(t).Best();
    auto solved = SolvePlacement(t.problem);
    ASSERT_TRUE(solved.ok()) << "chain " << i << ": " << solved.status().ToString();
    EXPECT_NEAR(solved->cost, best, 1e-9 * best) << "chain " << i << ", " << solved->method;
    exact += solved->method == "exact-dp";
    for (const PlaceGroup& g : solved->groups) {
      groups += g.offers.size() > 1;
      for (uint32_t o : g.offers) patterns += t.problem.offers[o].nodes.size() > 1;
    }
  }
  std::printf(
      "300 chains of 200 nodes x 4 devices: %llu proven by exact-dp; %llu grown groups, "
      "%llu patterns\n",
      static_cast<unsigned long long>(exact), static_cast<unsigned long long>(groups),
      static_cast<unsigned long long>(patterns));
  EXPECT_EQ(exact, 300u);
}

}  // namespace
}  // namespace ge
