// Groups end where an asynchronous device may begin, if that saves more time than it costs.
#include "ge/place/overlap.h"

#include <gtest/gtest.h>

namespace ge {
namespace {

// Devices: 0 and 1 are the host's memory, 2 has its own.
struct OneLink : PlaceBoundary {
  double crossing = 1000;
  double Cost(double, uint32_t a, uint32_t, uint32_t b, uint32_t) const override {
    return (a == 2) == (b == 2) ? 0 : crossing;
  }
};

const std::vector<bool> kAsync = {false, false, true};

PlaceOffer Step(uint32_t node, uint32_t device, double marginal, double launch = 2000) {
  PlaceOffer o;
  o.nodes = {node};
  o.device = device;
  o.growable = true;
  o.marginal = marginal;
  o.launch = launch;
  return o;
}

PlaceValue Made(int32_t producer, std::vector<uint32_t> users, bool is_output = false) {
  PlaceValue v;
  v.producer = producer;
  v.users = std::move(users);
  v.bytes = 4096;
  v.is_output = is_output;
  return v;
}

// `n` products in a chain on device 1, 100 us each; what each makes a device reads for `ns`.
// `sums`: each of these adds the one before it; else each is an output.
PlaceProblem Products(uint32_t n, double ns, bool sums, const PlaceBoundary* boundary) {
  PlaceProblem p;
  p.n_node = 2 * n;
  p.n_device = 3;
  p.boundary = boundary;
  p.values.push_back(Made(-1, {0}));
  for (uint32_t i = 0; i < n; ++i) {  // nodes 0 .. n - 1 multiply
    std::vector<uint32_t> users = {n + i};
    if (i + 1 < n) users.insert(users.begin(), i + 1);
    p.values.push_back(Made(static_cast<int32_t>(i), users));
    p.offers.push_back(Step(i, 1, 100'000));
  }
  for (uint32_t i = 0; i < n; ++i) {
    const bool last = i + 1 == n;
    std::vector<uint32_t> users;
    if (sums && !last) users = {n + i + 1};
    p.values.push_back(Made(static_cast<int32_t>(n + i), users, users.empty()));
    p.offers.push_back(Step(n + i, 2, ns));
  }
  return p;
}

std::vector<uint32_t> Upward(uint32_t first, uint32_t n) {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < n; ++i) out.push_back(first + i);
  return out;
}

PlaceSolution InTwo(const PlaceProblem& p, uint32_t n, bool sums) {
  PlaceSolution s;
  s.groups.push_back({1, Upward(0, n)});
  if (sums) s.groups.push_back({2, Upward(n, n)});
  for (uint32_t i = 0; !sums && i < n; ++i) s.groups.push_back({2, {n + i}});
  s.cost = *CoverCost(p, s.groups);
  return s;
}

TEST(Overlap, AGroupEndsWhereADeviceBegins) {
  OneLink link;
  PlaceProblem p = Products(3, 90'000, false, &link);
  // The first product alone feeds the device.
  p.values[2].users = {2};
  p.values[3].users = {};
  p.values[3].is_output = true;
  p.n_node = 4;
  p.values.resize(5);
  p.offers.resize(4);
  PlaceSolution s;
  s.groups = {{1, {0, 1, 2}}, {2, {3}}};
  s.cost = *CoverCost(p, s.groups);
  EXPECT_DOUBLE_EQ(TimeOfGroups(p, kAsync, s.groups), 302'000 + 1000 + 92'000 + 1000);
  ASSERT_TRUE(SplitForOverlap(p, kAsync, &s).ok());
  ASSERT_EQ(s.groups.size(), 3u);
  EXPECT_EQ(s.groups[0].offers, (std::vector<uint32_t>{0}));
  EXPECT_EQ(s.groups[1].offers, (std::vector<uint32_t>{1, 2}));
  // All that the device does is hidden behind the host's work, which has one launch more.
  EXPECT_DOUBLE_EQ(TimeOfGroups(p, kAsync, s.groups), 304'000);
  EXPECT_DOUBLE_EQ(s.cost, *CoverCost(p, s.groups));
}

TEST(Overlap, NothingIsSplitForLessThanItCosts) {
  OneLink link;
  link.crossing = 100;
  PlaceProblem p = Products(3, 500, false, &link);
  for (PlaceOffer& o : p.offers) o.launch = 90'000;
  PlaceSolution s = InTwo(p, 3, false);
  const double before = s.cost;
  ASSERT_TRUE(SplitForOverlap(p, {false, false, false}, &s).ok());
  EXPECT_EQ(s.groups.size(), 4u);  // no device is asynchronous
  for (PlaceOffer& o : p.offers) o.marginal = o.nodes[0] < 3 ? 100 : 500;
  ASSERT_TRUE(SplitForOverlap(p, kAsync, &s).ok());
  EXPECT_EQ(s.groups.size(), 4u);
  EXPECT_EQ(s.cost, before);
}

// What could be hidden: the work of the device but that behind the last product.
TEST(Overlap, NineTenthsOfWhatCanBeHiddenIs) {
  OneLink link;
  for (const bool sums : {false, true}) {
    const PlaceProblem p = Products(5, 90'000, sums, &link);
    PlaceSolution s = InTwo(p, 5, sums);
    const double before = TimeOfGroups(p, kAsync, s.groups);
    ASSERT_TRUE(SplitForOverlap(p, kAsync, &s).ok());
    const double after = TimeOfGroups(p, kAsync, s.groups);
    const double can = 4 * 90'000;
    EXPECT_GE((before - after) / can, 0.9) << "before " << before << ", after " << after;
    EXPECT_TRUE(CoverCost(p, s.groups).ok());
  }
}

// `n` pairs of products in a chain on device 1; what a pair makes device 2 reads at once, as one
// collective sums gradients of several layers. Its launches follow each other.
PlaceProblem Pairs(uint32_t n, double ns, const PlaceBoundary* boundary) {
  PlaceProblem p;
  p.n_node = 3 * n;
  p.n_device = 3;
  p.boundary = boundary;
  for (uint32_t i = 0; i < 2 * n; ++i) {
    std::vector<uint32_t> users = {2 * n + i / 2};
    if (i + 1 < 2 * n) users.insert(users.begin(), i + 1);
    p.values.push_back(Made(static_cast<int32_t>(i), users));
    p.offers.push_back(Step(i, 1, 100'000));
  }
  for (uint32_t i = 0; i < n; ++i) {
    p.offers.push_back(Step(2 * n + i, 2, ns));
    p.offers.back().growable = false;
    p.values.push_back(Made(static_cast<int32_t>(2 * n + i), {}, true));
    if (i + 1 == n) continue;
    p.values.push_back(Made(static_cast<int32_t>(2 * n + i), {2 * n + i + 1}));
    p.values.back().order = true;
  }
  return p;
}

// None of the products lets the device begin alone; nor is one cut worth a hundredth of the time.
TEST(Overlap, GroupsEndWhereADeviceHasAllThatItReads) {
  OneLink link;
  link.crossing = 100;
  for (const double ns : {8'000.0, 150'000.0, 600'000.0}) {
    const uint32_t n = 10;
    const PlaceProblem p = Pairs(n, ns, &link);
    PlaceSolution s;
    s.groups.push_back({1, Upward(0, 2 * n)});
    for (uint32_t i = 0; i < n; ++i) s.groups.push_back({2, {2 * n + i}});
    s.cost = *CoverCost(p, s.groups);
    const double before = TimeOfGroups(p, kAsync, s.groups);
    ASSERT_TRUE(SplitForOverlap(p, kAsync, &s).ok());
    const double after = TimeOfGroups(p, kAsync, s.groups);
    const double can = std::min((n - 1) * ns, 18 * 100'000.0), cuts = (n - 1) * 2000;
    EXPECT_GE((before - after + cuts) / can, 0.9)
        << ns << ": before " << before << ", after " << after;
    // A device that is behind needs not be fed any more.
    const size_t most = ns < 200'000 ? 2 * n : n + 4, least = ns < 200'000 ? 2 * n : n + 2;
    EXPECT_LE(s.groups.size(), most) << ns;
    EXPECT_GE(s.groups.size(), least) << ns;
    EXPECT_TRUE(CoverCost(p, s.groups).ok());
  }
}

}  // namespace
}  // namespace ge
