#include "plugins/gpu/strides.h"

#include <gtest/gtest.h>

#include <random>

namespace ge_engines::gpu {
namespace {

TEST(Strides, BroadcastAxesStandStill) {
  EXPECT_EQ(BroadcastStrides({3, 1}, {2, 3, 4}), (Dims{0, 1, 0}));
  EXPECT_EQ(BroadcastStrides({}, {2, 3}), (Dims{0, 0}));
  EXPECT_EQ(BroadcastStrides({2, 3, 4}, {2, 3, 4}), (Dims{12, 4, 1}));
}

TEST(Strides, NeighboursMergeWhereAllTensorsAllow) {
  Dims dims = {2, 3, 1, 4};
  std::vector<Dims> strides = {StridesOf(dims), {0, 4, 9, 1}};
  MergeAxes(&dims, &strides);
  EXPECT_EQ(dims, (Dims{2, 12}));
  EXPECT_EQ(strides[0], (Dims{12, 1}));
  EXPECT_EQ(strides[1], (Dims{0, 1}));
}

TEST(Strides, OneElementHasNoAxes) {
  Dims dims = {1, 1};
  std::vector<Dims> strides = {{1, 1}};
  MergeAxes(&dims, &strides);
  EXPECT_TRUE(dims.empty() && strides[0].empty());
}

// Each element has the place that it had before axes were merged.
TEST(Strides, MergedPlacesAreThoseOfBefore) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 2000; ++i) {
    Dims dims, x;
    for (uint64_t k = random() % 6; k > 0; --k) {
      dims.push_back(static_cast<int64_t>(random() % 4 + 1));
      x.push_back(random() % 3 == 0 ? 1 : dims.back());
    }
    std::vector<Dims> strides = {StridesOf(dims), BroadcastStrides(x, dims)};
    const Axes before = AxesOf(dims);
    const Strides was = StridesFor(strides[1]);
    const int64_t count = Product(dims);
    MergeAxes(&dims, &strides);
    for (int64_t n = 0; n < count; ++n) {
      ASSERT_EQ(PlaceOf(AxesOf(dims), StridesFor(strides[0]), n), n);
      ASSERT_EQ(PlaceOf(AxesOf(dims), StridesFor(strides[1]), n), PlaceOf(before, was, n));
    }
  }
}

TEST(Strides, AxesThatAreReducedAreApart) {
  const AxesApart last({4, 5, 6}, {1, 2});
  EXPECT_TRUE(last.rows == 4 && last.length == 30 && last.rows_dense);
  const AxesApart middle({4, 5, 6}, {1});
  EXPECT_TRUE(middle.rows == 24 && middle.length == 5 && !middle.beside && !middle.rows_apart);
  const AxesApart first({4, 5}, {0});
  EXPECT_TRUE(first.rows == 5 && first.length == 4 && !first.rows_dense);
}

TEST(Strides, LongRowsAreReducedInParts) {
  EXPECT_EQ(AxesApart::Rows(3, 65536).Parts(), 16);
  EXPECT_EQ(AxesApart::Rows(3, 3 * 4096 * 2).Parts(), 4);  // a part has 4096 elements at least
  EXPECT_EQ(AxesApart::Rows(3, 65537).Parts(), 1);
  EXPECT_EQ(AxesApart::Rows(1000, 65536).Parts(), 1);  // there are rows enough
  EXPECT_EQ(AxesApart({65536, 3}, {0}).Parts(), 1);
}

TEST(Strides, NineAxesAreRefused) {
  EXPECT_THROW(AxesOf(Dims(9, 2)), std::runtime_error);
  EXPECT_THROW(StridesFor(Dims(9, 2)), std::runtime_error);
}

}  // namespace
}  // namespace ge_engines::gpu
