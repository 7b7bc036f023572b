// What the search comes to on random problems, in figures: it is the same on every machine, so that
// a change of it is seen, be it for the better or the worse. Whoever changes it on purpose looks at
// the new figures, which a failure prints, and writes them here.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>

#include "tests/unit/place_oracle.h"

namespace ge {
namespace {

using placetest::Maker;
using placetest::Recipe;
using placetest::TestProblem;

// "120 1: 24.25 ms in 310 groups, moves 3": problems of so many nodes at so much of the usual
// effort.
std::string Line(uint32_t nodes, double effort) {
  double cost = 0;
  size_t groups = 0;
  uint64_t order = 0;
  std::map<std::string, int> methods;
  for (uint32_t seed = 0; seed < 6; ++seed) {
    Recipe r;
    r.nodes = nodes + seed;
    r.devices = 2 + seed % 3;
    r.window = 2 + seed * 3;
    r.growable = 0.2 + 0.15 * seed;
    r.second_output = 0.1 * seed;
    TestProblem t;
    Maker(100 * nodes + seed, r).Make(&t);
    t.problem.effort = effort;
    const auto found = SolvePlacement(t.problem);
    EXPECT_TRUE(found.ok());
    if (!found.ok()) continue;
    cost += found->cost;
    groups += found->groups.size();
    ++methods[found->method];
    for (const PlaceGroup& g : found->groups) {
      for (const uint32_t o : g.offers) order = order * 31 % 1000003 + o;
    }
  }
  char text[200];
  std::snprintf(text, sizeof text, "%u %g: %.3f ns in %zu groups, order %llu", nodes, effort, cost,
                groups, static_cast<unsigned long long>(order));
  std::string line = text;
  for (const auto& [method, count] : methods) line += ", " + method + " " + std::to_string(count);
  return line;
}

TEST(PlaceFigures, AreWhatTheyWere) {
  const char* known[] = {
      "5 1: 2426.758 ns in 23 groups, order 175608, exact-dp 6",
      "12 1: 4781.857 ns in 39 groups, order 280026, branch-and-bound 1, exact-dp 5",
      "12 0.05: 4781.857 ns in 39 groups, order 280026, branch-and-bound 5, exact-dp 1",
      "30 1: 10303.955 ns in 91 groups, order 405869, beam 2, exact-dp 2, min-cut moves 1, moves 1",
      "30 0.02: 10407.422 ns in 95 groups, order 711190, beam 4, exact-dp 1, moves 1",
      "60 1: 20618.068 ns in 171 groups, order 838147, beam 3, exact-dp 1, moves 2",
      "60 0.02: 20671.016 ns in 176 groups, order 733435, beam 3, moves 3",
      "120 0.3: 46446.473 ns in 329 groups, order 47995, beam 2, best single device 1, moves 3",
      "120 0.02: 47306.172 ns in 331 groups, order 505260, beam 1, best single device 2, moves 3",
      "250 0.05: 91489.911 ns in 718 groups, order 859203, beam 1, moves 5",
      "500 0.02: 188543.128 ns in 1546 groups, order 562395, moves 6",
      "995 0.005: 388727.493 ns in 2720 groups, order 261422, beam 1, min-cut moves 1, moves 4",
      "1500 0.005: 525714.519 ns in 4143 groups, order 527812, beam 1, moves 5",
  };
  for (const std::string line : known) {
    uint32_t nodes = 0;
    double effort = 0;
    ASSERT_EQ(std::sscanf(line.c_str(), "%u %lf:", &nodes, &effort), 2);
    EXPECT_EQ(Line(nodes, effort), line);
  }
}

}  // namespace
}  // namespace ge
