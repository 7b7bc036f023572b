// SolvePlacement and CoverCost on cases small enough to work out by hand, their refusals, and what
// must hold on graphs too large for an oracle.
#include "ge/place/place.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ge/place/arrangement.h"
#include "ge/place/model.h"
#include "ge/place/moves.h"
#include "ge/place/options.h"
#include "tests/unit/place_oracle.h"

namespace ge {
namespace {

using placetest::Maker;
using placetest::Recipe;
using placetest::TestProblem;

constexpr double kInf = std::numeric_limits<double>::infinity();

// A flat price for every crossing between two domains; layout changes cost `relayout`.
struct Flat : PlaceBoundary {
  double crossing = 30, relayout = 5;
  double Cost(double, uint32_t a, uint32_t l, uint32_t b, uint32_t m) const override {
    return (a == b ? 0 : crossing) + (l == m ? 0 : relayout);
  }
};

PlaceOffer One(std::vector<uint32_t> nodes, uint32_t device, double marginal, double setup = 0) {
  PlaceOffer o;
  o.nodes = std::move(nodes);
  o.device = device;
  o.marginal = marginal;
  o.setup = setup;
  return o;
}

PlaceOffer Growable(uint32_t node, uint32_t device, double marginal, double setup) {
  PlaceOffer o = One({node}, device, marginal, setup);
  o.growable = true;
  return o;
}

// input -> 0 -> 1 -> ... -> output
PlaceProblem Chain(uint32_t n, const PlaceBoundary* boundary) {
  PlaceProblem p;
  p.n_node = n;
  p.n_device = 2;
  p.boundary = boundary;
  for (uint32_t i = 0; i <= n; ++i) {
    PlaceValue v;
    v.producer = static_cast<int32_t>(i) - 1;
    v.bytes = 100;
    if (i < n) v.users = {i};
    v.is_output = i == n;
    p.values.push_back(v);
  }
  return p;
}

// Chain of 100 + 300 + 100 on the host; the other device offers the middle alone at 20 + 40 and all
// three as a pattern at 20 + 60.
PlaceProblem WorkedExample(const PlaceBoundary* boundary, bool pattern) {
  PlaceProblem p = Chain(3, boundary);
  p.offers = {One({0}, 0, 100), One({1}, 0, 300), One({2}, 0, 100), One({1}, 1, 40, 20)};
  if (pattern) p.offers.push_back(One({0, 1, 2}, 1, 60, 20));
  return p;
}

TEST(PlacePins, TheLaterPinOfANodeStands) {
  std::vector<PlacePin> pins;
  Repin({"a", "ref", ""}, &pins);
  Repin({"b", "native", "plain"}, &pins);
  Repin({"a", "onednn", "plain"}, &pins);
  ASSERT_EQ(pins.size(), 2u);
  EXPECT_EQ(pins[0].node, "a");
  EXPECT_EQ(pins[0].target, "onednn");
  EXPECT_EQ(pins[1].target, "native");
}

TEST(Place, WorkedExampleTakesThePattern) {
  Flat b;
  auto s = SolvePlacement(WorkedExample(&b, true));
  ASSERT_TRUE(s.ok()) << s.status().ToString();
  EXPECT_DOUBLE_EQ(s->cost, 140);
  ASSERT_EQ(s->groups.size(), 1u);
  EXPECT_EQ(s->groups[0].offers, std::vector<uint32_t>{4});
  EXPECT_EQ(s->method, "exact-dp");
}

TEST(Place, WorkedExampleWithoutThePatternMovesTheMiddle) {
  Flat b;
  auto s = SolvePlacement(WorkedExample(&b, false));
  ASSERT_TRUE(s.ok());
  EXPECT_DOUBLE_EQ(s->cost, 320);
  ASSERT_EQ(s->groups.size(), 3u);
  EXPECT_EQ(s->groups[1].device, 1u);
}

TEST(Place, SlowLinksKeepSingleNodesAtHome) {
  Flat b;
  b.crossing = 200;
  auto with = SolvePlacement(WorkedExample(&b, true));
  auto without = SolvePlacement(WorkedExample(&b, false));
  ASSERT_TRUE(with.ok() && without.ok());
  EXPECT_DOUBLE_EQ(with->cost, 480);
  EXPECT_DOUBLE_EQ(without->cost, 500);
}

TEST(Place, AGroupPaysItsGreatestSetupOnce) {
  Flat b;
  PlaceProblem p = Chain(3, &b);
  for (uint32_t n = 0; n < 3; ++n) {
    p.offers.push_back(One({n}, 0, 100));
    p.offers.push_back(Growable(n, 1, 10, 10 * (n + 1)));
    p.offers.back().edge_saving = 2;
  }
  auto s = SolvePlacement(p);
  ASSERT_TRUE(s.ok());
  EXPECT_DOUBLE_EQ(s->cost, 30 + 30 + 3 * 10 + 30 - 2 * 2);  // both ways, marginals, setup, savings
  ASSERT_EQ(s->groups.size(), 1u);
  EXPECT_EQ(s->groups[0].offers.size(), 3u);
}

// 0 -> {1, 2}, {0, 1} -> 3, where 2 is on the host and read by 3 as well: 0 and 3 cannot be one
// group because 2 lies between.
TEST(Place, GroupsDoNotSwallowWhatLiesBetween) {
  Flat b;
  b.crossing = 1;
  PlaceProblem p;
  p.n_node = 3;
  p.n_device = 2;
  p.boundary = &b;
  p.values.resize(3);
  p.values[0].producer = 0;
  p.values[0].users = {1, 2};
  p.values[1].producer = 1;
  p.values[1].users = {2};
  p.values[2].producer = 2;
  p.values[2].is_output = true;
  p.offers = {Growable(0, 1, 10, 50), One({1}, 0, 5), Growable(2, 1, 10, 50)};
  auto s = SolvePlacement(p);
  ASSERT_TRUE(s.ok());
  EXPECT_EQ(s->groups.size(), 3u);
  EXPECT_DOUBLE_EQ(s->cost, 10 + 50 + 1 + 5 + 1 + 10 + 50 + 1);
  const std::vector<PlaceGroup> merged = {{1, {0, 2}}, {0, {1}}};
  auto cost = CoverCost(p, merged);
  ASSERT_FALSE(cost.ok());
  EXPECT_EQ(cost.status().code(), Code::kInternal);
  EXPECT_NE(cost.status().message().find("cycle"), std::string::npos);
}

// Each node of an even place works in layout 1 and pays 5 for each image that it turns, as much as
// a conversion; those between follow what they get. No one offer or pair gains by changing.
TEST(Place, AChainChangesItsLayoutAcrossDevices) {
  Flat b;
  b.crossing = 0;
  PlaceProblem p = Chain(9, &b);
  const uint32_t n = p.n_node;
  std::vector<uint32_t> plain;
  for (uint32_t i = 0; i < n; ++i) {
    for (uint32_t from : {0, 1}) {
      for (uint32_t to : {0, 1}) {
        if (i % 2 == 1 && from != to) continue;
        if (from == 0 && to == 0) plain.push_back(static_cast<uint32_t>(p.offers.size()));
        const double turns = i % 2 == 1 ? 0 : 5 * (2 - from - to);
        p.offers.push_back(One({i}, i % 2, 10 + turns));
        if (from == 1) p.offers.back().layout.emplace_back(i, 1);
        if (to == 1) p.offers.back().layout.emplace_back(i + 1, 1);
      }
    }
  }
  auto m = place::BuildModel(p);
  ASSERT_TRUE(m.ok()) << m.status().ToString();
  place::Arrangement a(*m);
  ASSERT_TRUE(a.Start(plain));
  EXPECT_FALSE(place::ImproveByMoves(*m, 1000000, &a));
  EXPECT_FALSE(place::ImproveByCuts(*m, 1000000, &a));
  EXPECT_DOUBLE_EQ(a.cost(), 10 * n + 10 * (n / 2 + 1));
  EXPECT_TRUE(place::ImproveByLayouts(*m, &a));
  EXPECT_DOUBLE_EQ(a.cost(), 10 * n + 10);  // the first image is turned, and the last
  EXPECT_FALSE(place::ImproveByLayouts(*m, &a));
}

TEST(Place, AValueIsBroughtOnceToADomainAndLayout) {
  Flat b;
  PlaceProblem p;  // 0 -> {1, 2, 3}
  p.n_node = 4;
  p.n_device = 2;
  p.boundary = &b;
  p.values.resize(4);
  p.values[0].producer = 0;
  p.values[0].users = {1, 2, 3};
  for (uint32_t n = 1; n < 4; ++n) p.values[n].producer = static_cast<int32_t>(n);
  p.offers = {One({0}, 0, 1), One({1}, 1, 1), One({2}, 1, 1), One({3}, 1, 1)};
  p.offers[3].layout = {{0, 7}};
  auto s = SolvePlacement(p);
  ASSERT_TRUE(s.ok());
  EXPECT_DOUBLE_EQ(s->cost, 4 + 30 + 35);
}

TEST(Place, RefusesANodeWithoutAnOffer) {
  Flat b;
  PlaceProblem p = WorkedExample(&b, true);
  p.offers.erase(p.offers.begin() + 2);
  p.offers.pop_back();
  auto s = SolvePlacement(p);
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.status().code(), Code::kUnsupported);
  EXPECT_NE(s.status().message().find("node 2"), std::string::npos);
}

TEST(Place, RefusesWhenNoLinkLeadsBack) {
  Flat b;
  b.crossing = kInf;
  PlaceProblem p = Chain(1, &b);
  p.offers = {One({0}, 1, 10)};
  auto s = SolvePlacement(p);
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.status().code(), Code::kUnsupported);
}

TEST(Place, RefusesInconsistentProblems) {
  Flat b;
  const PlaceProblem good = WorkedExample(&b, true);
  auto refused = [](const PlaceProblem& p) {
    return SolvePlacement(p).status().code() == Code::kInternal;
  };
  PlaceProblem p = good;
  p.boundary = nullptr;
  EXPECT_TRUE(refused(p));
  p = good;
  p.offers[0].device = 9;
  EXPECT_TRUE(refused(p));
  p = good;
  p.offers[0].nodes = {1, 0};
  EXPECT_TRUE(refused(p));
  p = good;
  p.offers[0].marginal = std::nan("");
  EXPECT_TRUE(refused(p));
  p = good;
  p.offers[0].setup = -1;
  EXPECT_TRUE(refused(p));
  p = good;
  p.values[0].users = {77};
  EXPECT_TRUE(refused(p));
  p = good;
  p.values[3].users = {0};  // 2 -> 0 closes a cycle
  EXPECT_TRUE(refused(p));
  p = good;
  p.offers[0].layout = {{99, 1}};
  EXPECT_TRUE(refused(p));
}

TEST(Place, AnEmptyProblemIsFree) {
  Flat b;
  PlaceProblem p;
  p.n_device = 1;
  p.boundary = &b;
  auto s = SolvePlacement(p);
  ASSERT_TRUE(s.ok()) << s.status().ToString();
  EXPECT_EQ(s->cost, 0);
  EXPECT_TRUE(s->groups.empty());
}

TEST(CoverCost, RefusesIllegalCovers) {
  Flat b;
  PlaceProblem p = WorkedExample(&b, true);
  p.offers[0].growable = p.offers[2].growable = true;
  auto why = [&p](const std::vector<PlaceGroup>& groups) {
    auto cost = CoverCost(p, groups);
    return cost.ok() ? std::string("ok") : cost.status().message();
  };
  EXPECT_EQ(why({{1, {4}}}), "ok");
  EXPECT_NE(why({{0, {0}}, {0, {1}}}).find("node 2 is not covered"), std::string::npos);
  EXPECT_NE(why({{1, {4}}, {0, {0}}}).find("covered by offers"), std::string::npos);
  EXPECT_NE(why({{0, {0, 1}}, {0, {2}}}).find("does not grow"), std::string::npos);
  EXPECT_NE(why({{0, {0, 2}}, {0, {1}}}).find("not connected"), std::string::npos);
  EXPECT_NE(why({{0, {4}}}).find("of device 1"), std::string::npos);
  EXPECT_NE(why({{0, {99}}}).find("offer 99"), std::string::npos);
  EXPECT_NE(why({{0, {}}}).find("empty"), std::string::npos);
}

// Of two patterns each of which feeds the other, an engine could run neither first.
TEST(CoverCost, RefusesAGroupWhoseOffersFeedEachOther) {
  Flat b;
  PlaceProblem p;
  p.n_node = 4;  // 0 -> 3 (inside P), 2 -> 1 (inside Q), 0 -> 1, 2 -> 3
  p.n_device = 1;
  p.boundary = &b;
  p.values.resize(2);
  p.values[0].producer = 0;
  p.values[0].users = {1, 3};
  p.values[1].producer = 2;
  p.values[1].users = {1, 3};
  p.offers = {One({0, 3}, 0, 1), One({1, 2}, 0, 1)};
  p.offers[0].growable = p.offers[1].growable = true;
  EXPECT_FALSE(CoverCost(p, {{0, {0, 1}}}).ok());
  EXPECT_FALSE(CoverCost(p, {{0, {0}}, {0, {1}}}).ok());
  EXPECT_FALSE(SolvePlacement(p).ok());
  for (uint32_t n = 0; n < 4; ++n) p.offers.push_back(One({n}, 0, 10));
  auto s = SolvePlacement(p);
  ASSERT_TRUE(s.ok());
  EXPECT_DOUBLE_EQ(s->cost, 21);  // one pattern and two single nodes
}

// Every change and every undo must leave the sum that the cost rule gives.
TEST(PlaceArrangement, CostFollowsEveryChange) {
  int kept = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Recipe r;
    r.nodes = 5 + seed % 40;
    r.devices = 2 + seed % 3;
    r.window = 2 + seed % 7;
    r.growable = 0.3 + 0.1 * (seed % 8);
    TestProblem t;
    Maker(4000 + seed, r).Make(&t);
    auto m = place::BuildModel(t.problem);
    ASSERT_TRUE(m.ok());
    place::Arrangement a(*m);
    std::vector<uint32_t> single;
    for (uint32_t n = 0; n < m->n_node; ++n) {
      for (uint32_t o : m->node_offers[n]) {
        if (m->offers[o].parts.size() > 1) continue;
        single.push_back(o);
        break;
      }
    }
    ASSERT_TRUE(a.Start(single));
    std::mt19937 rng(seed);
    for (int k = 0; k < 150; ++k) {
      const uint32_t o = rng() % m->offers.size(), v = rng() % m->values.size();
      const place::ModelValue& value = m->values[v];
      if (k % 4 != 0) {
        if (m->offers[o].usable) kept += a.Try({o}, rng() % 2 == 0);
      } else if (value.producer >= 0 && !value.users.empty()) {
        kept += a.TryMerge(a.OfferAt(static_cast<uint32_t>(value.producer)),
                           a.OfferAt(value.users[rng() % value.users.size()]));
      }
      auto cost = place::Evaluate(*m, a.Groups());
      ASSERT_TRUE(cost.ok()) << "seed " << seed << " step " << k << ": "
                             << cost.status().ToString();
      ASSERT_NEAR(*cost, a.cost(), 1e-9 * *cost) << "seed " << seed << " step " << k;
      if (k % 50 == 49) a.Refresh();
    }
  }
  EXPECT_GT(kept, 300);
}

// What is left to moves where the frontier is too wide: close to the optimum where that is known.
TEST(PlaceMoves, ComeCloseToTheOptimumAlone) {
  double sum = 0, worst = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Recipe r;
    r.nodes = 20;
    r.devices = 3;
    TestProblem t;
    Maker(600 + seed, r).Make(&t);
    auto m = place::BuildModel(t.problem);
    auto best = SolvePlacement(t.problem);
    ASSERT_TRUE(m.ok() && best.ok());
    place::Arrangement a(*m);
    std::vector<uint32_t> single;
    for (uint32_t n = 0; n < m->n_node; ++n) {
      auto cheaper = [&m](uint32_t x, uint32_t y) {
        const place::ModelOffer &p = m->offers[x], &q = m->offers[y];
        return std::pair(p.parts.size(), p.Alone()) < std::pair(q.parts.size(), q.Alone());
      };
      single.push_back(
          *std::min_element(m->node_offers[n].begin(), m->node_offers[n].end(), cheaper));
    }
    ASSERT_TRUE(a.Start(single));
    place::ImproveByMoves(*m, 1000000, &a);
    place::ImproveByCuts(*m, 1000000, &a);
    place::ImproveByMoves(*m, 1000000, &a);
    const double ratio = a.cost() / best->cost;
    EXPECT_GE(ratio, 1 - 1e-9);
    sum += ratio;
    worst = std::max(worst, ratio);
  }
  std::printf("moves alone on 60 graphs of 20 nodes: %.4f of the optimum on average, worst %.4f\n",
              sum / 60, worst);
  EXPECT_LT(sum / 60, 1.03);
}

// Never worse than any one device with the others as a fallback, at sizes where nothing is exact.
TEST(Place, NeverWorseThanOneDevice) {
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Recipe r;
    r.nodes = 150;
    r.devices = 3;
    r.window = 30 + 10 * static_cast<uint32_t>(seed % 3);
    r.fan_in = 1.9;
    r.growable = seed % 2 == 0 ? 0.9 : 0.3;
    TestProblem t;
    Maker(90 + seed, r).Make(&t);
    auto m = place::BuildModel(t.problem);
    auto solved = SolvePlacement(t.problem);
    ASSERT_TRUE(m.ok() && solved.ok());
    for (uint32_t d = 0; d < 3; ++d) {
      std::vector<uint32_t> cover;
      for (uint32_t n = 0; n < m->n_node; ++n) {
        auto better = [&](uint32_t x, uint32_t y) {
          auto key = [&](uint32_t o) {
            const place::ModelOffer& offer = m->offers[o];
            return std::tuple(offer.parts.size(), offer.device != d, offer.Alone());
          };
          return key(x) < key(y);
        };
        cover.push_back(
            *std::min_element(m->node_offers[n].begin(), m->node_offers[n].end(), better));
      }
      place::Arrangement a(*m);
      ASSERT_TRUE(a.Start(cover));
      EXPECT_LE(solved->cost, a.cost() * (1 + 1e-9)) << "seed " << seed << " device " << d;
    }
    if (seed > 1) continue;
    auto again = SolvePlacement(t.problem);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->cost, solved->cost);  // deterministic
  }
}

// Work of the square of its nodes would end this test by its time limit: 40,000 nodes, each looked
// for in a pattern of 40,000, are 10^9 steps an offer, a search and a sweep.
TEST(Place, APatternOfTheWholeGraphCostsNoMoreThanItsNodes) {
  Flat flat;
  constexpr uint32_t kNodes = 40000;
  PlaceProblem p = Chain(kNodes, &flat);
  p.n_device = 3;
  PlaceOffer all[2];
  for (uint32_t n = 0; n < kNodes; ++n) {
    p.offers.push_back(One({n}, 0, 100));
    p.offers.push_back(Growable(n, 1, 10, 50));
    for (PlaceOffer& o : all) o.nodes.push_back(n);
    if (n + 1 < kNodes) p.offers.push_back(One({n, n + 1}, 1, 15, 50));
  }
  all[0].device = 1;
  all[0].marginal = 8.0 * kNodes;
  all[1].device = 2;
  all[1].marginal = 9.0 * kNodes;
  p.offers.insert(p.offers.end(), all, all + 2);
  const auto found = SolvePlacement(p);
  ASSERT_TRUE(found.ok()) << found.status().ToString();
  ASSERT_EQ(found->groups.size(), 1u);
  EXPECT_EQ(found->groups[0].offers,
            std::vector<uint32_t>{static_cast<uint32_t>(p.offers.size()) - 2});
  EXPECT_NEAR(found->cost, 8.0 * kNodes + 60, 1e-3);
}

// 40,000 pairs of nodes that all read one input, and one node that reads all: far more live values
// than the search holds, and more nodes than moves have time for.
TEST(Place, WideGraphsTakePatternsThatGain) {
  Flat flat;
  constexpr uint32_t kPairs = 40000;
  PlaceProblem p;
  p.n_node = 2 * kPairs + 1;
  p.n_device = 2;
  p.boundary = &flat;
  p.values.resize(1);
  p.values[0].bytes = 100;
  auto give = [&](uint32_t maker, uint32_t user) {
    PlaceValue v;
    v.producer = static_cast<int32_t>(maker);
    v.bytes = 100;
    v.users = {user};
    p.values.push_back(v);
  };
  for (uint32_t i = 0; i < kPairs; ++i) {
    p.values[0].users.push_back(2 * i);
    give(2 * i, 2 * i + 1);
    give(2 * i + 1, 2 * kPairs);
    p.offers.push_back(One({2 * i}, 0, 10));
    p.offers.push_back(One({2 * i + 1}, 0, 10));
    p.offers.push_back(One({2 * i, 2 * i + 1}, 0, 12));
  }
  p.offers.push_back(One({2 * kPairs}, 0, 10));
  const auto found = SolvePlacement(p);
  ASSERT_TRUE(found.ok()) << found.status().ToString();
  EXPECT_NEAR(found->cost, 12.0 * kPairs + 10, 1e-3);
}

// Wider than the packed state of the frontier search: 300 branches side by side.
TEST(Place, WideGraphsAreLeftToMoves) {
  Flat b;
  b.crossing = 3;
  PlaceProblem p;
  p.n_node = 302;
  p.n_device = 2;
  p.boundary = &b;
  p.values.resize(302);
  for (uint32_t n = 0; n < 302; ++n) {
    p.values[n].producer = static_cast<int32_t>(n);
    p.values[n].bytes = 10;
    p.offers.push_back(One({n}, 0, 20));
    p.offers.push_back(Growable(n, 1, 5, 50));
  }
  for (uint32_t n = 1; n < 301; ++n) {
    p.values[0].users.push_back(n);
    p.values[n].users.push_back(301);
  }
  p.values[301].is_output = true;
  auto s = SolvePlacement(p);
  ASSERT_TRUE(s.ok()) << s.status().ToString();
  EXPECT_DOUBLE_EQ(s->cost, 302 * 5 + 50 + 3);  // all in one group
}

}  // namespace
}  // namespace ge
