#include "passes/precision/cheapest_cut.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace ge {
namespace {

struct Problem {
  struct Pair {
    size_t kept, changed;
    double price;
  };
  std::vector<double> kept, changed;
  std::vector<Pair> pairs;

  double CostOf(const std::vector<bool>& choice) const {
    double sum = 0;
    for (size_t i = 0; i < kept.size(); ++i) sum += choice[i] ? changed[i] : kept[i];
    for (const Pair& p : pairs) sum += !choice[p.kept] && choice[p.changed] ? p.price : 0;
    return sum;
  }
  double Cheapest() const {
    double best = HUGE_VAL;
    for (uint32_t bits = 0; bits < uint32_t{1} << kept.size(); ++bits) {
      std::vector<bool> choice(kept.size());
      for (size_t i = 0; i < kept.size(); ++i) choice[i] = (bits >> i & 1) != 0;
      best = std::min(best, CostOf(choice));
    }
    return best;
  }
  std::vector<bool> Solve() const {
    CheapestCut cut;
    for (size_t i = 0; i < kept.size(); ++i) cut.Add(kept[i], changed[i]);
    for (const Pair& p : pairs) cut.PayIfApart(p.kept, p.changed, p.price);
    return cut.Solve();
  }
};

TEST(CheapestCut, AsAllChoicesTried) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    Problem p;
    const size_t n = 1 + random() % 8;
    for (size_t i = 0; i < n; ++i) {
      p.kept.push_back(static_cast<double>(random() % 20));
      p.changed.push_back(random() % 8 == 0 ? 1e15 : static_cast<double>(random() % 20));
    }
    for (size_t k = 0; k < 2 * n; ++k) {
      const size_t a = random() % n, b = random() % n;
      if (a != b) p.pairs.push_back({a, b, static_cast<double>(random() % 12)});
    }
    EXPECT_NEAR(p.Cheapest(), p.CostOf(p.Solve()), 1e-6) << round;
  }
}

TEST(CheapestCut, EqualPricesChangeNothing) {
  const Problem p{{5, 0}, {5, HUGE_VAL}, {{1, 0, 0}}};
  EXPECT_EQ((std::vector<bool>{false, false}), p.Solve());
}

}  // namespace
}  // namespace ge
