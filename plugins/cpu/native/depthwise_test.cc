// Depth-wise convolutions against direct sums in double precision, in each instruction set of this
// host: strides, dilations, borders on one side, several filters a channel, strips, threads.
#include "plugins/cpu/native/depthwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "plugins/cpu/kit/isa_sets.h"

namespace ge_native {
namespace {

struct Case {
  int64_t images, channels, filters;  // filters a channel
  int64_t src[2], kernel[2], stride[2], dilation[2], pad_l[2], pad_r[2];
};
constexpr Case kCases[] = {
    {1, 3, 1, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {2, 4, 1, {9, 20}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 0}},
    {1, 2, 3, {11, 5}, {5, 3}, {3, 2}, {2, 1}, {0, 4}, {3, 0}},
    {1, 2, 1, {200, 130}, {5, 5}, {1, 1}, {1, 1}, {2, 2}, {2, 2}},  // several strips
    {1, 2, 1, {150, 140}, {3, 7}, {2, 1}, {3, 2}, {6, 1}, {0, 9}},
    {1, 5, 2, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {1, 2, 1, {4, 3}, {2, 2}, {4, 4}, {1, 1}, {3, 3}, {3, 3}},  // windows wholly in the padding
};

ConvSpec SpecOf(const Case& c) {
  ConvSpec s;
  s.groups = c.channels;
  s.src = {c.images, c.channels, c.src[0], c.src[1]};
  s.weights = {c.channels, c.filters, 1, c.kernel[0], c.kernel[1]};
  s.dst = {c.images, c.channels * c.filters};
  for (size_t k = 0; k < 2; ++k) {
    const int64_t window = (c.kernel[k] - 1) * c.dilation[k] + 1;
    s.dst.push_back((c.src[k] + c.pad_l[k] + c.pad_r[k] - window) / c.stride[k] + 1);
    s.stride.push_back(c.stride[k]);
    s.dilation.push_back(c.dilation[k]);
    s.pad_l.push_back(c.pad_l[k]);
    s.pad_r.push_back(c.pad_r[k]);
  }
  return s;
}

double Direct(const ConvSpec& s, const std::vector<float>& x, const std::vector<float>& w,
              int64_t n, int64_t o, int64_t y0, int64_t x0) {
  const int64_t filters = s.weights[1], c = o / filters;
  double sum = 0;
  for (int64_t b = 0; b < s.weights[3]; ++b) {
    for (int64_t t = 0; t < s.weights[4]; ++t) {
      const int64_t i = y0 * s.stride[0] + b * s.dilation[0] - s.pad_l[0];
      const int64_t j = x0 * s.stride[1] + t * s.dilation[1] - s.pad_l[1];
      if (i < 0 || i >= s.src[2] || j < 0 || j >= s.src[3]) continue;
      const int64_t at = ((n * s.src[1] + c) * s.src[2] + i) * s.src[3] + j;
      const int64_t tap = (o * s.weights[3] + b) * s.weights[4] + t;
      sum += double{x[static_cast<size_t>(at)]} * double{w[static_cast<size_t>(tap)]};
    }
  }
  return sum;
}

std::vector<float> Random(int64_t n, std::mt19937* random) {
  std::normal_distribution<float> d;
  std::vector<float> v(static_cast<size_t>(n));
  for (float& x : v) x = d(*random);
  return v;
}

class Depthwise : public ::testing::TestWithParam<ge_cpu::IsaSet> {};
INSTANTIATE_TEST_SUITE_P(Isa, Depthwise, ::testing::ValuesIn(ge_cpu::IsaSets()),
                         ge_cpu::NameOfIsaSet);

TEST_P(Depthwise, EqualsDirectSums) {
  std::mt19937 random(7);
  for (const Case& c : kCases) {
    for (const int threads : {1, 3}) {
      const ConvSpec s = SpecOf(c);
      ASSERT_TRUE(IsDepthwise(s));
      Machine m;
      m.isa = GetParam().isa, m.threads = threads;
      const DepthwisePlan plan(s, m);
      std::vector<float> x = Random(Product(s.src), &random),
                         w = Random(Product(s.weights), &random);
      std::vector<float> bias = Random(s.dst[1], &random);
      const auto n = static_cast<size_t>(Product(s.dst));
      std::vector<float> y(n + 1, 99.0f);
      // What a strip leaves in its buffer must not reach the next one's sums.
      std::vector<float> room(plan.workspace_floats() * static_cast<uint64_t>(threads), NAN);
      float* const places[] = {y.data(), x.data(), w.data(), bias.data(), room.data()};
      DepthwiseLoop(*GetParam().simd, plan)->Run(places);
      EXPECT_EQ(y[n], 99.0f);
      for (size_t i = 0; i < n; ++i) {
        auto at = static_cast<int64_t>(i);
        const int64_t x0 = at % s.dst[3], y0 = at / s.dst[3] % s.dst[2];
        const int64_t o = at / (s.dst[2] * s.dst[3]) % s.dst[1];
        const int64_t picture = at / (s.dst[1] * s.dst[2] * s.dst[3]);
        const double want = bias[static_cast<size_t>(o)] + Direct(s, x, w, picture, o, y0, x0);
        ASSERT_NEAR(y[i], want, 1e-4) << i << " of " << n << ", " << threads << " threads";
      }
    }
  }
}

TEST(DepthwisePlan, CutsLargePicturesIntoStrips) {
  Machine m;
  m.isa = GE_ISA_SSE42;
  EXPECT_GT(DepthwisePlan(SpecOf(kCases[3]), m).strips, 1);
  EXPECT_EQ(DepthwisePlan(SpecOf(kCases[0]), m).strips, 1);
}

}  // namespace
}  // namespace ge_native
