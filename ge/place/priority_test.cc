#include "ge/place/priority.h"

#include <gtest/gtest.h>

#include <limits>

namespace ge {
namespace {

struct Free : PlaceBoundary {
  double Cost(double, uint32_t, uint32_t, uint32_t, uint32_t) const override { return 0; }
};
const Free free_boundary;

PlaceOffer Of(std::vector<uint32_t> nodes, uint32_t device, double marginal) {
  PlaceOffer o;
  o.nodes = std::move(nodes);
  o.device = device;
  o.marginal = marginal;
  return o;
}

// A chain of `n` nodes, each offered by devices 1 and 2 alone; value i leads from node i to i + 1.
PlaceProblem Line(uint32_t n) {
  PlaceProblem p;
  p.n_node = n;
  p.n_device = 3;
  p.boundary = &free_boundary;
  for (uint32_t i = 0; i < n; ++i) {
    PlaceValue v;
    v.producer = static_cast<int32_t>(i);
    v.bytes = 4;
    v.is_output = i + 1 == n;
    if (i + 1 < n) v.users = {i + 1};
    p.values.push_back(v);
    p.offers.push_back(Of({i}, 1, 10));
    p.offers.push_back(Of({i}, 2, 1));
  }
  return p;
}

std::vector<uint32_t> Kept(const PlaceProblem& p, const std::vector<uint32_t>& rank) {
  std::vector<uint32_t> kept;
  const std::vector<bool> keep = KeepByPriority(p, rank);
  for (uint32_t i = 0; i < keep.size(); ++i) {
    if (keep[i]) kept.push_back(i);
  }
  return kept;
}

TEST(Priority, PricesDoNotMatterOrderDoes) {
  const PlaceProblem p = Line(2);
  EXPECT_EQ(Kept(p, {9, 0, 1}), (std::vector<uint32_t>{0, 2}));
  EXPECT_EQ(Kept(p, {9, 1, 0}), (std::vector<uint32_t>{1, 3}));
}

TEST(Priority, TheNextDeviceGetsWhatTheFirstLeaves) {
  PlaceProblem p = Line(2);
  p.offers.erase(p.offers.begin());  // device 1 no longer offers node 0
  EXPECT_EQ(Kept(p, {9, 0, 1}), (std::vector<uint32_t>{0, 1}));
  p.offers[1].marginal = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Kept(p, {9, 0, 1}), (std::vector<uint32_t>{0, 2}));
}

TEST(Priority, TheLargestPatternOfADeviceFirst) {
  PlaceProblem p = Line(4);
  p.offers.push_back(Of({0, 1}, 1, 999));     // 8
  p.offers.push_back(Of({1, 2, 3}, 1, 999));  // 9
  p.offers.push_back(Of({1, 2, 3}, 1, 998));  // 10: the same nodes in another way
  p.offers.push_back(Of({0, 1, 2, 3}, 2, 1));
  EXPECT_EQ(Kept(p, {9, 0, 1}), (std::vector<uint32_t>{0, 9, 10}));
}

// A pattern of the ends of a chain: what leads from one to the other lies between, whether other
// patterns have it or nobody yet.
TEST(Priority, APatternAroundOthersIsLeft) {
  PlaceProblem p = Line(5);
  p.offers.push_back(Of({0, 4}, 1, 1));  // 10
  EXPECT_EQ(Kept(p, {9, 0, 1}), (std::vector<uint32_t>{0, 2, 4, 6, 8}));
  p.offers.push_back(Of({1, 2, 3}, 1, 1));  // 11: larger, so it is taken first
  EXPECT_EQ(Kept(p, {9, 0, 1}), (std::vector<uint32_t>{0, 8, 11}));
}

// 0 -> 2, 1 -> 3 and 1 -> 2, 0 -> 3 crossed: each pattern is fine alone, both are a cycle.
TEST(Priority, APatternThatWouldCloseACycleIsLeft) {
  PlaceProblem p;
  p.n_node = 4;
  p.n_device = 2;
  p.boundary = &free_boundary;
  // Nodes 0 -> 3 by value 0 and 1 -> 2 by value 1; patterns {0, 2} and {1, 3}.
  p.values.resize(4);
  for (uint32_t i = 0; i < 4; ++i) p.values[i].producer = static_cast<int32_t>(i);
  p.values[0].users = {3};
  p.values[1].users = {2};
  p.values[2].is_output = p.values[3].is_output = true;
  for (uint32_t i = 0; i < 4; ++i) p.offers.push_back(Of({i}, 1, 1));
  p.offers.push_back(Of({0, 2}, 1, 1));
  p.offers.push_back(Of({1, 3}, 1, 1));
  EXPECT_EQ(Kept(p, {9, 0}), (std::vector<uint32_t>{1, 3, 4}));
  PlaceProblem rest = p;
  rest.offers = {p.offers[1], p.offers[3], p.offers[4]};
  auto cost = CoverCost(rest, {{1, {0}}, {1, {2}}, {1, {1}}});
  ASSERT_TRUE(cost.ok()) << cost.status().ToString();
  EXPECT_EQ(*cost, 3);
}

}  // namespace
}  // namespace ge
