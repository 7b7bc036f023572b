// Direct convolutions against sums in double precision, in each instruction set of this host:
// depth-wise and dense ones, strides, dilations, borders on one side, several filters a channel,
// strips, threads, post-ops, infinities and NaN.
#include "plugins/cpu/native/conv/direct.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/isa_sets_testing.h"
#include "plugins/cpu/kit/loops.h"
#include "plugins/cpu/native/conv/direct_sums_testing.h"
#include "plugins/units/conv/conv.h"

namespace ge_engines::cpu::native {
namespace {

using Case = ConvCase;
constexpr Case kCases[] = {
    {1, 3, 1, 1, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {2, 4, 1, 1, {9, 20}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 0}},
    {1, 2, 1, 3, {11, 5}, {5, 3}, {3, 2}, {2, 1}, {0, 4}, {3, 0}},
    {1, 2, 1, 1, {400, 260}, {5, 5}, {1, 1}, {1, 1}, {2, 2}, {2, 2}},  // several strips
    {1, 2, 1, 1, {150, 140}, {3, 7}, {2, 1}, {3, 2}, {6, 1}, {0, 9}},
    {1, 5, 1, 2, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {1, 2, 1, 1, {4, 3}, {2, 2}, {4, 4}, {1, 1}, {3, 3}, {3, 3}},  // windows wholly in the padding
    {3, 1, 1, 6, {28, 28}, {5, 5}, {1, 1}, {1, 1}, {2, 2}, {2, 2}},
    {2, 1, 6, 16, {14, 14}, {5, 5}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {1, 2, 5, 25, {9, 11}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
    {1, 1, 24, 9, {60, 70}, {3, 3}, {1, 1}, {2, 2}, {2, 2}, {2, 2}},  // several strips
    {1, 1, 7, 3, {1, 33}, {1, 4}, {1, 1}, {1, 1}, {0, 3}, {0, 0}},
};

class DirectConvolution : public ::testing::TestWithParam<IsaSet> {
 protected:
  std::vector<float> Result(const ConvSpec& s, int threads, std::vector<float>& x,
                            std::vector<float>& w, std::vector<float>& bias,
                            const std::vector<PointwiseOp>& post_ops) const {
    Machine m;
    m.isa = GetParam().isa;
    m.threads = threads;
    const DirectPlan plan(s, m);
    std::vector<float> y(static_cast<size_t>(Product(s.dst)) + 1, 99.0f);
    // What a strip leaves in its buffer must not reach the next one's sums.
    std::vector<float> room(plan.workspace_floats() * static_cast<uint64_t>(threads), NAN);
    float* const places[] = {y.data(), x.data(), w.data(), bias.data(), room.data()};
    DirectLoop(*GetParam().simd, plan, post_ops)->Run(places);
    EXPECT_EQ(y.back(), 99.0f);
    y.pop_back();
    return y;
  }
  void Check(const Case& c, int threads, bool post_ops, std::mt19937* random) const {
    const ConvSpec s = SpecOf(c);
    std::vector<float> x = Random(Product(s.src), random), w = Random(Product(s.weights), random);
    std::vector<float> bias = Random(s.dst[1], random);
    std::vector<PointwiseOp> ops;
    if (post_ops) ops = {{Fn::kRelu, 0.5f, 0, -1}, {Fn::kLinear, 2, 1, -1}};
    const std::vector<float> y = Result(s, threads, x, w, bias, ops);
    for (size_t i = 0; i < y.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      const auto o = static_cast<size_t>(at / (s.dst[2] * s.dst[3]) % s.dst[1]);
      double want = double{bias[o]} + DirectSum(c, s, x, w, at);
      if (post_ops) want = 2 * (want < 0 ? want / 2 : want) + 1;
      ASSERT_NEAR(y[i], want, 4e-4) << i << " of " << y.size() << ", " << threads << " threads, "
                                    << ToText(s.src) << " to " << ToText(s.dst);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Isa, DirectConvolution, ::testing::ValuesIn(IsaSets()), NameOfIsaSet);

TEST_P(DirectConvolution, EqualsSums) {
  std::mt19937 random(7);
  for (const Case& c : kCases) {
    for (const int threads : {1, 3}) Check(c, threads, threads == 3, &random);
  }
}

TEST_P(DirectConvolution, EqualsSumsAtRandomSizes) {
  std::mt19937 random(11);
  auto any = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  for (int round = 0; round < 150; ++round) {
    Case c = {any(1, 3), any(1, 2), any(1, 9), any(1, 40), {}, {}, {}, {}, {}, {}};
    for (int k = 0; k < 2; ++k) {
      c.kernel[k] = any(1, 5);
      c.stride[k] = any(1, round % 3);
      c.dilation[k] = any(1, 2);
      if (round % 3 == 0) c.stride[k] = 1;
      c.pad_l[k] = any(0, 4);
      c.pad_r[k] = any(0, 4);
      const int64_t window = (c.kernel[k] - 1) * c.dilation[k] + 1;
      c.src[k] = std::max(any(1, 34), window - c.pad_l[k] - c.pad_r[k]);
    }
    Check(c, static_cast<int>(any(1, 2)), any(0, 1) == 1, &random);
    if (HasFatalFailure()) return;
  }
}

TEST_P(DirectConvolution, KeepsInfinitiesAndNaNWhereTheyBelong) {
  const Case c = {1, 1, 2, 5, {12, 19}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  const ConvSpec s = SpecOf(c);
  std::mt19937 random(3);
  std::vector<float> x = Random(Product(s.src), &random), w = Random(Product(s.weights), &random);
  std::vector<float> bias = Random(s.dst[1], &random);
  x[18] = INFINITY;
  x[100] = -INFINITY;
  x[215] = NAN;
  x[228 + 11 * 19] = INFINITY;
  w[3 * 18 + 4] = 0;  // times infinity is NaN
  const std::vector<float> y = Result(s, 1, x, w, bias, {});
  for (size_t i = 0; i < y.size(); ++i) {
    const auto want = static_cast<float>(DirectSum(c, s, x, w, static_cast<int64_t>(i)));
    ASSERT_EQ(std::isnan(y[i]), std::isnan(want)) << i;
    if (std::isinf(want)) {
      ASSERT_EQ(y[i], want) << i;
    } else {
      ASSERT_EQ(std::isinf(y[i]), false) << i;
    }
  }
}

TEST(DirectPlan, CutsLargePicturesIntoStrips) {
  Machine m;
  m.isa = GE_ISA_SSE42;
  EXPECT_GT(DirectPlan(SpecOf(kCases[3]), m).strips, 1);
  EXPECT_GT(DirectPlan(SpecOf(kCases[10]), m).strips, 1);
  EXPECT_EQ(DirectPlan(SpecOf(kCases[0]), m).strips, 1);
  m.threads = 3;
  EXPECT_EQ(DirectPlan(SpecOf(kCases[10]), m).strips % 3, 0) << "each thread has as many";
}

TEST(DirectPlan, IsLeftWhereGatheringIsLess) {
  Machine m;
  m.isa = GE_ISA_AVX2;
  EXPECT_TRUE(IsDirect(SpecOf(kCases[0]), m)) << "depth-wise";
  EXPECT_TRUE(IsDirect(SpecOf(kCases[8]), m));
  // One tap, one tap of each four pixels, windows as wide as the picture.
  EXPECT_FALSE(IsDirect(SpecOf({1, 1, 8, 8, {9, 9}, {1, 1}, {1, 1}, {1, 1}, {}, {}}), m));
  EXPECT_FALSE(IsDirect(SpecOf({1, 2, 4, 4, {9, 9}, {1, 1}, {1, 1}, {1, 1}, {}, {}}), m))
      << "groups of more than a channel are not depth-wise";
  EXPECT_FALSE(IsDirect(SpecOf({1, 1, 8, 8, {9, 9}, {1, 1}, {2, 2}, {1, 1}, {}, {}}), m));
  EXPECT_FALSE(IsDirect(SpecOf({1, 1, 1, 8, {40, 30}, {3, 30}, {1, 1}, {1, 1}, {}, {}}), m));
}

}  // namespace
}  // namespace ge_engines::cpu::native
