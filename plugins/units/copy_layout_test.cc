#include "plugins/units/copy_layout.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace ge_engines {
namespace {

template <class T>
std::vector<T> Counted(const Dims& dims) {
  std::vector<T> x(static_cast<size_t>(Product(dims)));
  std::iota(x.begin(), x.end(), static_cast<T>(1));
  return x;
}

// Where each element lies is worked out by hand, and each lane that no element has is zero.
template <class T>
void LaysOut(int64_t channels) {
  constexpr int kBlock = 16;
  const Dims dims = {2, channels, 2, 1};
  const auto size = static_cast<int>(sizeof(T));
  const Layout plain = Layout::Dense(dims, size), blocked = Layout::Blocked(dims, kBlock, size);
  const int64_t blocks = CeilDiv(channels, kBlock);
  ASSERT_EQ(blocked.bytes(), static_cast<uint64_t>(2 * blocks * 2 * kBlock) * sizeof(T));
  const std::vector<T> x = Counted<T>(dims);
  std::vector<T> y(blocked.bytes() / sizeof(T), static_cast<T>(-1)), z(x.size());
  CopyLayout(plain, x.data(), blocked, y.data());
  for (int64_t n = 0; n < 2; ++n) {
    for (int64_t c = 0; c < blocks * kBlock; ++c) {
      for (int64_t h = 0; h < 2; ++h) {
        const auto at =
            static_cast<size_t>(((n * blocks + c / kBlock) * 2 + h) * kBlock + c % kBlock);
        const T wanted = c < channels ? x[static_cast<size_t>((n * channels + c) * 2 + h)] : T{0};
        ASSERT_EQ(y[at], wanted) << n << " " << c << " " << h;
      }
    }
  }
  CopyLayout(blocked, y.data(), plain, z.data());
  EXPECT_EQ(z, x);
  std::fill(y.begin(), y.end(), static_cast<T>(-1));
  CopyElements(plain, x.data(), blocked, y.data());
  EXPECT_EQ(std::count(y.begin(), y.end(), static_cast<T>(-1)),
            static_cast<int64_t>(y.size() - x.size()));
}

TEST(CopyLayout, OfBlocksOfAnySizeOfElement) {
  for (const int64_t channels : {1, 15, 16, 17, 33}) {
    LaysOut<int8_t>(channels);
    LaysOut<int16_t>(channels);
    LaysOut<float>(channels);
    LaysOut<double>(channels);
  }
}

TEST(CopyLayout, OfNothingAndOfOneElement) {
  const Dims none = {2, 0, 3};
  CopyLayout(Layout::Dense(none), nullptr, Layout::Blocked(none, 16), nullptr);
  const float x = 3;
  float y = 0;
  CopyLayout(Layout::Dense({}), &x, Layout::Dense({}), &y);
  EXPECT_EQ(y, x);
}

}  // namespace
}  // namespace ge_engines
