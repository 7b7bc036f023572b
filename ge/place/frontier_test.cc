// SearchFrontier: when it is exact, what a beam claims, and cores that it leaves to branch and
// bound.
#include "ge/place/frontier.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "ge/place/cover.h"
#include "ge/place/model.h"
#include "ge/place/place.h"
#include "tests/unit/place_oracle.h"

namespace ge {
namespace {

using placetest::Maker;
using placetest::Recipe;
using placetest::TestProblem;

// A cap on states makes a beam, and the beam says that it proves nothing.
TEST(PlaceFrontier, SaysWhenItIsNotExact) {
  Recipe r;
  r.nodes = 16;
  r.window = 8;
  r.fan_in = 2;
  TestProblem t;
  Maker(5, r).Make(&t);
  auto m = place::BuildModel(t.problem);
  ASSERT_TRUE(m.ok());
  const std::vector<bool> all(m->offers.size(), true);
  place::FrontierLimits limits;
  limits.states = 3;
  const place::FrontierResult beam = place::SearchFrontier(*m, all, limits);
  EXPECT_FALSE(beam.exact);
  limits.states = 1000000;
  limits.transitions = 100000000;
  const place::FrontierResult full = place::SearchFrontier(*m, all, limits);
  ASSERT_TRUE(full.found && full.exact);
  const double best = *place::Evaluate(*m, full.groups);
  limits.upper_bound = best * (1 - 1e-6);
  const place::FrontierResult below = place::SearchFrontier(*m, all, limits);
  EXPECT_TRUE(below.exact);
  EXPECT_FALSE(below.found);  // nothing is cheaper than the optimum
  limits.upper_bound = best;
  const place::FrontierResult bounded = place::SearchFrontier(*m, all, limits);
  ASSERT_TRUE(bounded.found);
  EXPECT_NEAR(*place::Evaluate(*m, bounded.groups), best, 1e-9 * best);
  EXPECT_LT(bounded.transitions, full.transitions);
}

// However narrow, a beam ends in a legal cover no cheaper than the optimum; and one that says to be
// exact has it, whatever was left out before it was made.
TEST(PlaceFrontier, ABeamLosesNothingThatItClaims) {
  int narrow = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Recipe r;
    r.nodes = 20;
    r.window = 6;
    r.fan_in = 1.8;
    r.growable = 0.7;
    TestProblem t;
    Maker(seed, r).Make(&t);
    auto m = place::BuildModel(t.problem);
    ASSERT_TRUE(m.ok());
    const std::vector<bool> all(m->offers.size(), true);
    const place::FrontierResult full = place::SearchFrontier(*m, all, {10000000, 1000000000});
    ASSERT_TRUE(full.found && full.exact);
    const double best = *place::Evaluate(*m, full.groups);
    for (uint32_t states : {2u, 12u, 100u, 1000u}) {
      const place::FrontierResult beam = place::SearchFrontier(*m, all, {states, 1000000000});
      if (!beam.found) continue;  // each of so few ended where no offer goes on
      const Result<double> cost = place::Evaluate(*m, beam.groups);
      ASSERT_TRUE(cost.ok()) << "seed " << seed << ", " << states << " states";
      EXPECT_GE(*cost, best * (1 - 1e-9));
      if (beam.exact) {
        EXPECT_NEAR(*cost, best, 1e-9 * best) << "seed " << seed;
      }
      narrow += !beam.exact;
    }
  }
  EXPECT_GT(narrow, 20);
}

// Dense cores of 12 nodes, 4 devices, 3 layouts: always proven, some only by branch and bound, and
// equal to the search without a bound.
TEST(Place, CoresOfTwelveNodesAreProven) {
  int bounded = 0;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Recipe r;
    r.nodes = 12;
    r.devices = r.domains = 4;
    r.layouts = 3;
    r.window = 12;
    r.fan_in = 2.2;
    r.offered = 0.9;
    r.growable = 0.6;
    TestProblem t;
    Maker(seed, r).Make(&t);
    auto s = SolvePlacement(t.problem);
    auto m = place::BuildModel(t.problem);
    ASSERT_TRUE(s.ok() && m.ok());
    EXPECT_TRUE(s->method == "exact-dp" || s->method == "branch-and-bound") << s->method;
    bounded += s->method == "branch-and-bound";
    place::FrontierLimits limits;
    limits.states = 10000000;
    limits.transitions = 1000000000;
    const std::vector<bool> all(m->offers.size(), true);
    const place::FrontierResult full = place::SearchFrontier(*m, all, limits);
    ASSERT_TRUE(full.found && full.exact);
    EXPECT_NEAR(s->cost, *place::Evaluate(*m, full.groups), 1e-9 * s->cost) << "seed " << seed;
  }
  EXPECT_GT(bounded, 0);
}

}  // namespace
}  // namespace ge
