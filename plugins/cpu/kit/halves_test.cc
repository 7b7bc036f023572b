// Conversions between float32 and 16-bit floats against their definitions, in each instruction set
// of this host: all 16-bit floats one way, every float at a step or between two the other way.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "plugins/cpu/kit/isa_sets_testing.h"
#include "plugins/cpu/kit/simd/kernels.h"

namespace ge_engines::cpu {
namespace {

// A format of 16 bits by its definition.
struct Format {
  int mantissa, bias;

  // NaN where it is no finite number.
  double Value(uint32_t magnitude) const {
    const int exponent = static_cast<int>(magnitude >> mantissa);
    const double m = magnitude & ((1u << mantissa) - 1);
    const double one = std::ldexp(1.0, mantissa);
    if (magnitude >= Infinity()) return magnitude == Infinity() ? HUGE_VAL : NAN;
    return exponent == 0 ? std::ldexp(m, 1 - bias - mantissa)
                         : std::ldexp(one + m, exponent - bias - mantissa);
  }
  uint32_t Infinity() const { return 0x7fffu >> mantissa << mantissa; }
  // The nearest 16-bit float; of two the even one; as if one more lay beyond the greatest.
  uint32_t Nearest(double a) const {
    uint32_t lo = 0, hi = Infinity();
    while (hi - lo > 1) {
      const uint32_t mid = (lo + hi) / 2;
      (Value(mid) <= a ? lo : hi) = mid;
    }
    const double above = hi == Infinity() ? 2 * Value(hi - 1) - Value(hi - 2) : Value(hi);
    const double left = a - Value(lo), right = above - a;
    return left < right || (left == right && lo % 2 == 0) ? lo : hi;
  }
};
constexpr Format kHalf{10, 15}, kBrain{7, 127};

using Widen = void (*)(const uint16_t*, float*, int64_t);
using Narrow = void (*)(const float*, uint16_t*, int64_t);

void CheckWiden(Widen widen, const Format& format) {
  std::vector<uint16_t> codes(0x10000);
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<uint16_t>(i);
  std::vector<float> got(codes.size());
  widen(codes.data(), got.data(), static_cast<int64_t>(codes.size()));
  for (size_t i = 0; i < codes.size(); ++i) {
    const double want = format.Value(codes[i] & 0x7fff);
    ASSERT_EQ(std::isnan(want), std::isnan(got[i])) << i;
    if (std::isnan(want)) continue;
    ASSERT_EQ(want, std::fabs(static_cast<double>(got[i]))) << i;
    ASSERT_EQ((codes[i] & 0x8000) != 0, std::signbit(got[i])) << i;
  }
}

// Each 16-bit float, its middle with the next, the floats beside both; then any floats.
std::vector<float> Arguments(const Format& format) {
  std::vector<float> x = {0.0f, -0.0f, HUGE_VALF, -HUGE_VALF, NAN, 3.4e38f, 65519.9f, 65520.0f};
  for (uint32_t code = 0; code + 1 < format.Infinity(); ++code) {
    const auto at = static_cast<float>(format.Value(code));
    const auto mid = static_cast<float>((format.Value(code) + format.Value(code + 1)) / 2);
    for (const float f : {at, mid}) {
      for (const float g : {f, std::nextafterf(f, HUGE_VALF), std::nextafterf(f, 0.0f)}) {
        x.push_back(code % 2 == 0 ? g : -g);
      }
    }
  }
  std::mt19937 random(7);
  for (int i = 0; i < 100000; ++i)
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  return x;
}

void CheckNarrow(Narrow narrow, const Format& format) {
  const std::vector<float> x = Arguments(format);
  std::vector<uint16_t> got(x.size());
  narrow(x.data(), got.data(), static_cast<int64_t>(x.size()));
  for (size_t i = 0; i < x.size(); ++i) {
    const uint32_t magnitude = got[i] & 0x7fffu;
    ASSERT_EQ(std::isnan(x[i]), magnitude > format.Infinity()) << x[i];
    if (std::isnan(x[i])) continue;
    const uint32_t want =
        std::isinf(x[i]) ? format.Infinity() : format.Nearest(std::fabs(static_cast<double>(x[i])));
    ASSERT_EQ(want, magnitude) << x[i];
    ASSERT_EQ(std::signbit(x[i]), got[i] >= 0x8000) << x[i];
  }
}

TEST(Halves, EveryCode) {
  for (const IsaSet& set : IsaSets()) {
    CheckWiden(set.simd->widen_half, kHalf);
    CheckWiden(set.simd->widen_brain, kBrain);
  }
}

TEST(Halves, NarrowedToTheNearest) {
  for (const IsaSet& set : IsaSets()) {
    CheckNarrow(set.simd->narrow_half, kHalf);
    CheckNarrow(set.simd->narrow_brain, kBrain);
  }
}

// Rows of any length give what longer ones give, and nothing behind them changes.
TEST(Halves, AnyLength) {
  std::mt19937 random(11);
  for (const IsaSet& set : IsaSets()) {
    const Simd* simd = set.simd;
    std::vector<float> x(70);
    for (float& f : x) f = static_cast<float>(random() % 4001) / 16 - 125;
    std::vector<uint16_t> all(x.size());
    simd->narrow_half(x.data(), all.data(), static_cast<int64_t>(x.size()));
    for (size_t n = 0; n < x.size(); ++n) {
      std::vector<uint16_t> codes(x.size(), 0x1234);
      std::vector<float> back(x.size(), 7.5f);
      simd->narrow_half(x.data(), codes.data(), static_cast<int64_t>(n));
      simd->widen_half(codes.data(), back.data(), static_cast<int64_t>(n));
      for (size_t i = 0; i < x.size(); ++i) {
        EXPECT_EQ(i < n ? all[i] : 0x1234, codes[i]) << n;
        if (i >= n) {
          EXPECT_EQ(7.5f, back[i]) << n;
        }
      }
    }
  }
}

}  // namespace
}  // namespace ge_engines::cpu
