#include "ge/base/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ge {
namespace {

// By the format's definition: sign, 5 bits of exponent, 10 of mantissa.
double ByDefinition(uint16_t half) {
  const int exponent = half >> 10 & 31, mantissa = half & 1023;
  const double magnitude = exponent == 31  ? (mantissa != 0 ? NAN : HUGE_VAL)
                           : exponent == 0 ? std::ldexp(mantissa, -24)
                                           : std::ldexp(1024 + mantissa, exponent - 25);
  return half & 0x8000 ? -magnitude : magnitude;
}

TEST(Half, WidensEveryCode) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const auto half = static_cast<uint16_t>(code);
    const double want = ByDefinition(half), got = FloatOfHalf(half);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(got)) << code;
      continue;
    }
    EXPECT_EQ(want, got) << code;
    EXPECT_EQ(std::signbit(want), std::signbit(got)) << code;
  }
}

TEST(Half, WidensBrainFloats) {
  EXPECT_EQ(1.0f, FloatOfBrain(0x3f80));
  EXPECT_EQ(-2.5f, FloatOfBrain(0xc020));
  EXPECT_EQ(std::numeric_limits<float>::infinity(), FloatOfBrain(0x7f80));
  EXPECT_TRUE(std::isnan(FloatOfBrain(0x7fc0)));
}

}  // namespace
}  // namespace ge
