// What a minimum cut weighs: values that cross, values that leave, patterns against their nodes.
#include "ge/place/moves.h"

#include <gtest/gtest.h>

#include "ge/base/interrupt.h"
#include "ge/place/arrangement.h"
#include "ge/place/model.h"
#include "ge/place/place.h"

namespace ge {
namespace {

PlaceOffer OfferOf(std::vector<uint32_t> nodes, uint32_t device, double marginal,
                   double setup = 0) {
  PlaceOffer o;
  o.nodes = std::move(nodes);
  o.device = device;
  o.marginal = marginal;
  o.setup = setup;
  return o;
}

// input -> 0 -> 1 -> ... -> output, each value of 100 bytes.
PlaceProblem ChainOfMoves(uint32_t n, const PlaceBoundary* boundary) {
  PlaceProblem p;
  p.n_node = n;
  p.n_device = 2;
  p.boundary = boundary;
  for (uint32_t i = 0; i <= n; ++i) {
    PlaceValue v;
    v.producer = static_cast<int32_t>(i) - 1;
    v.bytes = 100;
    v.is_output = i == n;
    if (i < n) v.users = {i};
    p.values.push_back(v);
  }
  return p;
}

// A boundary that costs by what crosses it.
struct ByBytes : PlaceBoundary {
  double Cost(double bytes, uint32_t a, uint32_t, uint32_t b, uint32_t) const override {
    return a == b ? 0 : bytes;
  }
};

// Five nodes gain by another device, five lose a little, and what the last one gives is dear to
// fetch: a cut moves the five alone, at once, though no node gains by itself.
TEST(PlaceMoves, ACutEndsWhereTheValueIsSmall) {
  const ByBytes by_bytes;
  PlaceProblem p = ChainOfMoves(10, &by_bytes);
  for (uint32_t v = 1; v < 5; ++v) p.values[v].bytes = 500;
  p.values[10].bytes = 5000;
  std::vector<uint32_t> home;
  for (uint32_t n = 0; n < 10; ++n) {
    home.push_back(static_cast<uint32_t>(p.offers.size()));
    p.offers.push_back(OfferOf({n}, 0, n < 5 ? 90 : 9, 10));
    p.offers.push_back(OfferOf({n}, 1, 10, 10));
  }
  auto m = place::BuildModel(p);
  ASSERT_TRUE(m.ok());
  place::Arrangement a(*m);
  ASSERT_TRUE(a.Start(home));
  ASSERT_EQ(a.cost(), 5 * 100 + 5 * 19);
  EXPECT_TRUE(place::ImproveByCuts(*m, 1000000, &a));
  EXPECT_EQ(a.cost(), 100 + 5 * 20 + 100 + 5 * 19);
}

// The nodes of a pattern that leave it are worth it by 2 of 500: each pays what it states.
TEST(PlaceMoves, ACutWeighsAPatternAgainstItsNodes) {
  const ByBytes by_bytes;
  PlaceProblem p = ChainOfMoves(6, &by_bytes);
  p.offers.push_back(OfferOf({0, 1, 2, 3, 4}, 0, 490, 10));
  p.offers.push_back(OfferOf({5}, 0, 10));
  for (uint32_t n = 0; n < 5; ++n) p.offers.push_back(OfferOf({n}, 1, 49.6, 10));
  auto m = place::BuildModel(p);
  ASSERT_TRUE(m.ok());
  place::Arrangement a(*m);
  ASSERT_TRUE(a.Start(std::vector<uint32_t>{0, 1}));
  ASSERT_EQ(a.cost(), 510);
  EXPECT_TRUE(place::ImproveByCuts(*m, 1000000, &a));
  EXPECT_DOUBLE_EQ(a.cost(), 5 * 59.6 + 100 + 100 + 10);
}

// A call that is over before the moves begin: each search looks at no more than what it has.
TEST(PlaceMoves, MovesEndWithTheirCall) {
  const ByBytes by_bytes;
  PlaceProblem p = ChainOfMoves(200, &by_bytes);
  std::vector<uint32_t> home;
  for (uint32_t n = 0; n < 200; ++n) {
    home.push_back(static_cast<uint32_t>(p.offers.size()));
    p.offers.push_back(OfferOf({n}, 0, 500, 10));
    p.offers.push_back(OfferOf({n}, 1, 10, 10));
  }
  auto m = place::BuildModel(p);
  ASSERT_TRUE(m.ok());
  place::Arrangement a(*m);
  ASSERT_TRUE(a.Start(home));
  const uint64_t before = a.work();
  Interrupt interrupt;
  const InterruptScope scope(&interrupt);
  interrupt.Cancel();
  EXPECT_FALSE(place::ImproveByMoves(*m, 1000000, &a));
  EXPECT_FALSE(place::ImproveByCuts(*m, 1000000, &a));
  EXPECT_EQ(a.work(), before);
  EXPECT_EQ(SolvePlacement(p).status().code(), Code::kCancelled);
  interrupt.Reset();
  EXPECT_TRUE(place::ImproveByMoves(*m, 1000000, &a));
}

}  // namespace
}  // namespace ge
