// Divisions and places beside arithmetic of 128 bits, far beyond 2^31 and 2^32.
#include "plugins/gpu/kernels/index.h"

#include <gtest/gtest.h>

#include <random>

namespace ge_engines::gpu {
namespace {

__extension__ using Wide = __int128;

constexpr uint64_t kMost = UINT64_MAX >> 1;  // of what is divided

TEST(Divider, QuotientsAreExact) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000000; ++i) {
    const uint64_t divisor = (random() >> (random() % 63 + 1)) + 1;
    const uint64_t n = i % 4 == 0 ? kMost - random() % 4 : random() >> (random() % 63 + 1);
    ASSERT_EQ(Divider::By(divisor).Quotient(n), n / divisor) << n << " / " << divisor;
    const uint64_t edge = n / divisor * divisor;  // and the number before it
    ASSERT_EQ(Divider::By(divisor).Quotient(edge), edge / divisor) << edge << " / " << divisor;
    if (edge == 0) continue;
    ASSERT_EQ(Divider::By(divisor).Quotient(edge - 1), (edge - 1) / divisor) << edge;
  }
}

TEST(Divider, OfPowersAndTheirNeighbours) {
  for (int log = 0; log < 63; ++log) {
    for (int64_t by = -1; by <= 1; ++by) {
      const uint64_t divisor = (uint64_t{1} << log) + static_cast<uint64_t>(by);
      if (divisor == 0) continue;
      for (const uint64_t n : {uint64_t{0}, divisor - 1, divisor, kMost - 1, kMost}) {
        ASSERT_EQ(Divider::By(divisor).Quotient(n), n / divisor) << n << " / " << divisor;
      }
    }
  }
}

TEST(Index, PlacesBeyond32Bits) {
  std::mt19937_64 random(2);
  // As many cases as lie beyond 2^31; there are others between them.
  for (int i = 0, beyond = 0; beyond < 1000000; ++i) {
    Axes axes;
    Strides left, right;
    axes.count = static_cast<int32_t>(random() % (kMostAxes + 1));
    Wide count = 1;
    for (int k = 0; k < axes.count; ++k) {
      const uint64_t size = (random() >> (64 - random() % 10 - 1)) + 1;
      axes.size[k] = Divider::By(size);
      count *= size;
      left.at[k] = static_cast<int64_t>(random() % (uint64_t{1} << 40)) - (int64_t{1} << 39);
      right.at[k] = static_cast<int64_t>(random() % 3) * (int64_t{1} << 33);
    }
    const auto n =
        static_cast<int64_t>(static_cast<Wide>(random() >> 1) %
                             (count < static_cast<Wide>(kMost) ? count : static_cast<Wide>(kMost)));
    beyond += n > INT32_MAX;
    Wide want_left = 5, want_right = 7, rest = n;
    for (int k = axes.count - 1; k >= 0; --k) {
      const auto size = static_cast<Wide>(axes.size[k].divisor);
      want_left += rest % size * left.at[k];
      want_right += rest % size * right.at[k];
      rest /= size;
    }
    int64_t at_left = 5, at_right = 7;
    PlacesOf(axes, left, right, n, &at_left, &at_right);
    ASSERT_TRUE(at_left == want_left && at_right == want_right) << "case " << i;
    ASSERT_TRUE(PlaceOf(axes, left, n) + 5 == want_left) << "case " << i;
  }
}

}  // namespace
}  // namespace ge_engines::gpu
