// Angles of all sizes beside the C library's doubles.
#include "plugins/gpu/kernels/trigonometry.h"

#include <gtest/gtest.h>

#include <random>

namespace ge_engines::gpu {
namespace {

void ExpectNear(float found, double wanted, float x) {
  const double bound = 1e-7 * std::fabs(wanted) + 1e-12;
  ASSERT_LE(std::fabs(static_cast<double>(found) - wanted), bound) << "of " << x;
}

void Compare(float x) {
  const auto angle = static_cast<double>(x);
  ExpectNear(Sine(x), std::sin(angle), x);
  ExpectNear(Cosine(x), std::cos(angle), x);
  ExpectNear(Tangent(x), std::tan(angle), x);
}

TEST(Trigonometry, AnglesOfAllSizes) {
  std::mt19937 random(1);
  for (int i = 0; i < 1000000; ++i) {
    const auto x = BitsAs<float>(static_cast<uint32_t>(random()));
    if (x - x == 0) Compare(x);
  }
}

TEST(Trigonometry, SmallAnglesAndEdges) {
  for (int i = -4000; i <= 4000; ++i) Compare(static_cast<float>(i) * 0.01f);
  for (const float x : {8388607.0f, 8388608.0f, 8388609.0f, 3.4028235e38f}) {
    Compare(x);
    Compare(-x);
  }
  EXPECT_TRUE(std::signbit(Sine(-0.0f)) && std::signbit(Tangent(-0.0f)));
  EXPECT_TRUE(std::isnan(Sine(INFINITY)) && std::isnan(Cosine(NAN)) &&
              std::isnan(Tangent(-INFINITY)));
}

}  // namespace
}  // namespace ge_engines::gpu
