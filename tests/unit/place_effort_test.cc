// What the usual budgets of a search cost: 300 random problems of the size of real networks,
// against twenty times the budgets.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "tests/unit/place_oracle.h"

namespace ge {
namespace {

using placetest::Maker;
using placetest::Recipe;
using placetest::TestProblem;

TEST(PlaceEffort, UsualBudgetsAreAlmostAsGoodAsLargeOnes) {
  double sum = 0, worst = 0;
  int beyond = 0;
  constexpr uint32_t kProblems = 300;
  for (uint32_t seed = 0; seed < kProblems; ++seed) {
    Recipe r;
    r.nodes = 20 + seed % 140;
    r.devices = 2 + seed % 3;
    r.window = 2 + seed % 6;
    r.growable = 0.3 + 0.1 * (seed % 8);
    TestProblem t;
    Maker(9000 + seed, r).Make(&t);
    const auto usual = SolvePlacement(t.problem);
    t.problem.effort = 20;
    const auto large = SolvePlacement(t.problem);
    ASSERT_TRUE(usual.ok() && large.ok()) << seed;
    const double ratio = usual->cost / large->cost;
    sum += ratio;
    worst = std::max(worst, ratio);
    beyond += ratio > 1.03;
  }
  std::printf(
      "cost by the usual budgets / by twenty times them: mean %.5f, worst %.4f, %d beyond "
      "1.03\n",
      sum / kProblems, worst, beyond);
  EXPECT_LE(sum / kProblems, 1.003);
  EXPECT_LE(beyond, 6);
  EXPECT_LE(worst, 1.10);
}

}  // namespace
}  // namespace ge
