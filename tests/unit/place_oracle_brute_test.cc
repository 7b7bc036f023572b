// SolvePlacement against brute force: every cover, every grouping, priced by code of its own.
#include <gtest/gtest.h>

#include <cstdio>
#include <limits>
#include <set>

#include "tests/unit/place_oracle.h"

namespace ge {
namespace {

using placetest::Maker;
using placetest::Recipe;
using placetest::TestProblem;

constexpr double kInf = std::numeric_limits<double>::infinity();

// Depth first over the nodes: the lowest uncovered node takes an offer, which starts a group or
// enters one. Legality and cost are looked at when all nodes are covered.
class Brute {
 public:
  explicit Brute(const TestProblem& t) : p_(t.problem), boundary_(t.boundary) {
    offer_of_.assign(p_.n_node, -1);
    best_ = kInf;
    Next();
  }
  double best() const { return best_; }
  uint64_t covers() const { return covers_; }

 private:
  struct Taken {
    uint32_t offer;
    uint32_t group;
  };

  void Next() {
    uint32_t n = 0;
    while (n < p_.n_node && offer_of_[n] >= 0) ++n;
    if (n == p_.n_node) {
      ++covers_;
      const double cost = Price();
      best_ = std::min(best_, cost);
      return;
    }
    for (uint32_t o = 0; o < p_.offers.size(); ++o) {
      const PlaceOffer& offer = p_.offers[o];
      if (std::find(offer.nodes.begin(), offer.nodes.end(), n) == offer.nodes.end()) continue;
      bool free = true;
      for (uint32_t k : offer.nodes) free = free && offer_of_[k] < 0;
      if (!free) continue;
      for (uint32_t k : offer.nodes) offer_of_[k] = static_cast<int>(taken_.size());
      const uint32_t old_groups = n_group_;
      for (uint32_t g = 0; g <= old_groups; ++g) {
        if (g < old_groups && !MayEnter(offer, g)) continue;
        taken_.push_back({o, g});
        n_group_ = std::max(old_groups, g + 1);
        Next();
        n_group_ = old_groups;
        taken_.pop_back();
      }
      for (uint32_t k : offer.nodes) offer_of_[k] = -1;
    }
  }

  bool MayEnter(const PlaceOffer& offer, uint32_t g) const {
    if (!offer.growable) return false;
    for (const Taken& t : taken_) {
      if (t.group != g) continue;
      if (!p_.offers[t.offer].growable || p_.offers[t.offer].device != offer.device) return false;
    }
    return true;
  }

  uint32_t GroupOf(uint32_t node) const { return taken_[offer_of_[node]].group; }

  static uint32_t Layout(const PlaceOffer& o, uint32_t v) {
    for (const auto& [value, layout] : o.layout) {
      if (value == v) return layout;
    }
    return 0;
  }

  // Warshall on `n` labels; true when some label reaches itself.
  template <typename LabelOf>
  bool Cyclic(size_t n, LabelOf label) const {
    std::vector<std::vector<bool>> reach(n, std::vector<bool>(n, false));
    for (const PlaceValue& v : p_.values) {
      if (v.producer < 0) continue;
      for (uint32_t u : v.users) {
        if (label(v.producer) != label(u)) reach[label(v.producer)][label(u)] = true;
      }
    }
    for (size_t k = 0; k < n; ++k) {
      for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; j < n; ++j) {
          if (reach[i][k] && reach[k][j]) reach[i][j] = true;
        }
      }
    }
    for (size_t i = 0; i < n; ++i) {
      if (reach[i][i]) return true;
    }
    return false;
  }

  bool Connected() const {
    std::vector<uint32_t> mark(taken_.size());
    for (uint32_t i = 0; i < mark.size(); ++i) mark[i] = i;
    for (size_t round = 0; round < mark.size(); ++round) {
      for (const PlaceValue& v : p_.values) {
        if (v.producer < 0) continue;
        for (uint32_t u : v.users) {
          const int a = offer_of_[v.producer], b = offer_of_[u];
          if (taken_[a].group != taken_[b].group) continue;
          mark[a] = mark[b] = std::min(mark[a], mark[b]);
        }
      }
    }
    for (size_t i = 0; i < taken_.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (taken_[i].group == taken_[j].group && mark[i] != mark[j]) return false;
      }
    }
    return true;
  }

  double Price() const {
    if (!Connected()) return kInf;
    if (Cyclic(n_group_, [this](uint32_t n) { return GroupOf(n); })) return kInf;
    if (Cyclic(taken_.size(), [this](uint32_t n) { return uint32_t(offer_of_[n]); })) return kInf;
    double cost = 0;
    for (uint32_t g = 0; g < n_group_; ++g) {
      double setup = 0, launch = 0;
      for (const Taken& t : taken_) {
        if (t.group != g) continue;
        const PlaceOffer& o = p_.offers[t.offer];
        cost += o.marginal;
        setup = std::max(setup, o.setup);
        launch = std::max(launch, o.launch);
      }
      cost += setup + launch;
    }
    for (uint32_t v = 0; v < p_.values.size(); ++v) cost += PriceValue(v);
    return cost;
  }

  double PriceValue(uint32_t v) const {
    const PlaceValue& value = p_.values[v];
    uint32_t device = 0, layout = 0;
    if (value.producer >= 0) {
      const PlaceOffer& o = p_.offers[taken_[offer_of_[value.producer]].offer];
      device = o.device;
      layout = Layout(o, v);
    }
    std::set<std::pair<uint32_t, uint32_t>> brought{{boundary_.domain[device], layout}};
    double cost = 0;
    bool inside = false;
    auto bring = [&](uint32_t d, uint32_t l) {
      if (brought.insert({boundary_.domain[d], l}).second) {
        cost += boundary_.Cost(value.bytes, device, layout, d, l);
      }
    };
    for (uint32_t u : value.users) {
      const PlaceOffer& reader = p_.offers[taken_[offer_of_[u]].offer];
      if (value.producer < 0 || GroupOf(u) != GroupOf(value.producer)) {
        bring(reader.device, Layout(reader, v));
      } else if (offer_of_[u] != offer_of_[value.producer]) {
        inside = true;
      }
    }
    if (inside) cost -= p_.offers[taken_[offer_of_[value.producer]].offer].edge_saving;
    if (value.is_output) bring(0, 0);
    return cost;
  }

  const PlaceProblem& p_;
  const placetest::TestBoundary& boundary_;
  std::vector<int> offer_of_;  // index into taken_
  std::vector<Taken> taken_;
  uint32_t n_group_ = 0;
  double best_;
  uint64_t covers_ = 0;
};

TEST(PlaceOracle, BruteForceOn300Graphs) {
  constexpr uint64_t kSeed = 20240611;
  std::printf("seed %llu\n", static_cast<unsigned long long>(kSeed));
  uint64_t covers = 0, with_pattern = 0, with_group = 0, with_transfer = 0;
  for (uint64_t i = 0; i < 300; ++i) {
    Recipe r;
    r.nodes = 3 + static_cast<uint32_t>(i % 7);
    r.devices = 2 + static_cast<uint32_t>(i / 7 % 2);
    r.window = 2 + static_cast<uint32_t>(i / 14 % 4);
    r.offered = r.nodes > 7 ? 0.5 : 0.7;  // keeps the number of covers in the millions
    r.alternative = r.nodes > 7 ? 0.12 : 0.3;
    r.growable = i % 3 == 0 ? 0.3 : 0.55;
    TestProblem t;
    Maker(kSeed + i, r).Make(&t);
    const Brute brute(t);
    covers += brute.covers();
    auto solved = SolvePlacement(t.problem);
    ASSERT_TRUE(solved.ok()) << "graph " << i << ": " << solved.status().ToString();
    EXPECT_NEAR(solved->cost, brute.best(), 1e-9 * brute.best())
        << "graph " << i << " of " << r.nodes << " nodes, method " << solved->method;
    auto again = CoverCost(t.problem, solved->groups);
    ASSERT_TRUE(again.ok()) << "graph " << i << ": " << again.status().ToString();
    EXPECT_NEAR(*again, solved->cost, 1e-9 * solved->cost) << "graph " << i;
    std::set<uint32_t> devices;
    for (const PlaceGroup& g : solved->groups) {
      with_group += g.offers.size() > 1;
      devices.insert(g.device);
      for (uint32_t o : g.offers) with_pattern += t.problem.offers[o].nodes.size() > 1;
    }
    with_transfer += devices.size() > 1;
  }
  std::printf(
      "300 graphs, %llu covers tried; optimal plans hold %llu patterns, %llu grown groups, "
      "%llu mix devices\n",
      static_cast<unsigned long long>(covers), static_cast<unsigned long long>(with_pattern),
      static_cast<unsigned long long>(with_group), static_cast<unsigned long long>(with_transfer));
  EXPECT_GT(with_pattern, 50u);
  EXPECT_GT(with_group, 50u);
  EXPECT_GT(with_transfer, 50u);
}

}  // namespace
}  // namespace ge
