// Powers and remainders of simd/ against the C library's in double, in each instruction set of this
// host.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "plugins/cpu/kit/isa_sets_testing.h"
#include "plugins/cpu/kit/simd/kernels.h"

namespace ge_engines::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Each pair of these, in the order of both operands.
struct Operands {
  std::vector<float> x, z;
  explicit Operands(const std::vector<float>& values) {
    for (const float a : values) {
      for (const float b : values) {
        x.push_back(a);
        z.push_back(b);
      }
    }
  }
};

const std::vector<float>& UnusualNumbers() {
  static const std::vector<float> numbers = {
      0,     1,      -1,     2,    -2,   3,    -3,    0.5f,   -0.5f,     1.5f,       -2.5f, 1e-3f,
      1e10f, -1e10f, 1e-38f, 7e6f, 9e6f, 77.f, 1e38f, -127.f, kInfinity, -kInfinity, kNan};
  return numbers;
}

void ExpectNear(float found, double want, double bound, const char* isa, float x, float z) {
  const float rounded = static_cast<float>(want);
  if (std::isnan(rounded) || std::isinf(rounded)) {
    EXPECT_TRUE(std::isnan(rounded) ? std::isnan(found) : found == rounded)
        << isa << ": " << found << " of " << x << " and " << z << ", wanted " << rounded;
    return;
  }
  EXPECT_NEAR(found, want, bound * std::fabs(want) + std::numeric_limits<float>::min())
      << isa << ": of " << x << " and " << z;
}

void Compare(const Operands& operands, Fn fn, Fn swapped, double (*want)(double, double),
             double bound) {
  const auto n = static_cast<int64_t>(operands.x.size());
  for (const IsaSet& s : IsaSets()) {
    std::vector<float> y(operands.x.size()), w(y.size());
    s.simd->binary(fn, operands.x.data(), operands.z.data(), y.data(), n);
    s.simd->binary(swapped, operands.z.data(), operands.x.data(), w.data(), n);
    for (size_t i = 0; i < y.size(); ++i) {
      const float x = operands.x[i], z = operands.z[i];
      ExpectNear(y[i], want(x, z), bound, s.name, x, z);
      ExpectNear(w[i], want(x, z), bound, s.name, x, z);
      float one = 0;
      s.simd->binary_scalar(fn, &x, z, &one, 1);
      ExpectNear(one, want(x, z), bound, s.name, x, z);
    }
  }
}

Operands RandomOperands(float low, float high) {
  std::mt19937 random(19);
  std::uniform_real_distribution<float> draw(low, high);
  Operands o({});
  for (int i = 0; i < 5000; ++i) {
    o.x.push_back(std::exp(draw(random)));
    o.z.push_back(draw(random));
  }
  return o;
}

double Floored(double x, double y) {
  const double rest = std::fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? static_cast<float>(rest) + y : rest;
}

TEST(Power, OfRandomNumbers) {
  Compare(RandomOperands(-9, 9), Fn::kPow, Fn::kRPow, std::pow, 1e-7);
}
TEST(Power, OfUnusualNumbers) {
  Compare(Operands(UnusualNumbers()), Fn::kPow, Fn::kRPow, std::pow, 1e-7);
}
TEST(Remainder, OfRandomNumbers) {
  Compare(RandomOperands(-30, 30), Fn::kFmod, Fn::kRFmod, std::fmod, 0);
  Compare(RandomOperands(-9, 9), Fn::kMod, Fn::kRMod, Floored, 1e-7);
}
TEST(Remainder, OfUnusualNumbers) {
  Compare(Operands(UnusualNumbers()), Fn::kFmod, Fn::kRFmod, std::fmod, 0);
  Compare(Operands(UnusualNumbers()), Fn::kMod, Fn::kRMod, Floored, 1e-7);
}

}  // namespace
}  // namespace ge_engines::cpu
