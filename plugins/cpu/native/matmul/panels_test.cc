// Products in panels with inputs rounded to bfloat16, against sums in double precision of numbers
// rounded by definition: rows 1 to 40, tails of columns and depths, one thread and two.
#include "plugins/cpu/native/matmul/panels.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "plugins/cpu/kit/arrival.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/rounded.h"
#include "plugins/cpu/native/matmul/panel_step.h"
#include "plugins/cpu/native/matmul/sweeps_testing.h"

namespace ge_engines::cpu::native {
namespace {

// To the nearest number of 8 digits, ties to even; a denormal is zero.
float ToBfloat16(float x) {
  if (!std::isfinite(x)) return x;
  if (std::fabs(x) < std::numeric_limits<float>::min()) return std::copysign(0.0f, x);
  int exponent = 0;
  const double digits = std::frexp(double{x}, &exponent) * 256;  // [128, 256)
  const double rounded = std::nearbyint(digits);                 // the mode is to even
  return static_cast<float>(std::ldexp(rounded, exponent - 8));
}

// By vectors, or by the tiles of AMX.
class RoundedPanels : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    rounded_ = RoundedOf(MachineOf(nullptr).isa);
    if (rounded_ == nullptr) GTEST_SKIP() << "this processor has no AVX512-BF16";
    if (GetParam() && !HasTiles()) GTEST_SKIP() << "this processor has no AMX";
    if (!GetParam()) rounded_ = &kRounded_avx512;
  }

  // One product by a loop, its bias, and an operand that is added.
  std::vector<float> Run(const float* x, const float* w, const float* bias, int64_t m, int64_t n,
                         int64_t k, bool transposed) {
    const PanelPlan plan(SimdOf(GE_ISA_AVX512), m, n, k, rounded_);
    EXPECT_EQ(plan.weight_floats(), Z(CeilDiv(n, 48) * 48 * CeilDiv(k, 2)));
    std::vector<float> packed(plan.weight_floats(), NAN), room(plan.rounded_floats(), NAN);
    std::vector<float> y(Z(m * n + 1), kGuard);
    plan.Pack(w, transposed, packed.data());
    RunLoop(*PanelLoop(SimdOf(GE_ISA_AVX512), plan, true, {{Fn::kAdd, 0, 0, true}}),
            {y.data(), const_cast<float*>(x), packed.data(), const_cast<float*>(bias),
             Numbers(m * n) + 3, room.data()});
    EXPECT_EQ(y.back(), kGuard);
    return y;
  }

  void Check(int64_t m, int64_t n, int64_t k, bool transposed) {
    SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k << ", turned " << transposed);
    const float *x = Numbers(m * k), *w = Weights(n * k), *bias = Numbers(n) + 7;
    std::vector<float> near_x(x, x + m * k), near_w(w, w + n * k);
    for (float& v : near_x) v = ToBfloat16(v);
    for (float& v : near_w) v = ToBfloat16(v);
    Wanted want = Product(near_x.data(), near_w.data(), m, n, k, transposed);
    Wanted exact = Product(x, w, m, n, k, transposed);
    const std::vector<float> y = Run(x, w, bias, m, n, k, transposed);
    double largest = 0, farthest = 0;
    for (int64_t i = 0; i < m * n; ++i) {
      const double more = double{bias[i % n]} + double{Numbers(m * n)[3 + i]};
      want.sum[Z(i)] += more;
      want.size[Z(i)] += std::fabs(more) + std::fabs(bias[i % n]);
      exact.sum[Z(i)] += more;
      largest = std::max(largest, std::fabs(exact.sum[Z(i)]));
      farthest = std::max(farthest, std::fabs(y[Z(i)] - exact.sum[Z(i)]));
    }
    want.Expect(y.data(), m * n);
    // What docs/numerics.md says of a layer, which takes some outputs to have a largest one.
    if (m * n >= 64) {
      ASSERT_LE(farthest, largest * 0x1p-8);
    }
  }

  const Rounded* rounded_ = nullptr;
};

TEST_P(RoundedPanels, AllRows) {
  for (const auto& [n, k] : {std::pair{1, 1}, {5, 3}, {48, 64}, {49, 65}, {100, 31}, {161, 130}}) {
    for (int64_t m = 1; m <= 40; ++m) {
      for (const bool transposed : {false, true}) Check(m, n, k, transposed);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(RoundedPanels, RandomSizesOnThreads) {
  std::mt19937 g(5);
  auto below = [&](int64_t most) {
    return 1 + static_cast<int64_t>(g() % static_cast<uint32_t>(most));
  };
  const int before = omp_get_max_threads();
  for (int i = 0; i < 60 && !HasFatalFailure(); ++i) {
    omp_set_num_threads(1 + i % 2);
    Arrival::Forget();
    Check(below(i % 3 == 0 ? 400 : 40), below(500), below(700), i % 4 < 2);
  }
  omp_set_num_threads(before);
}

TEST_P(RoundedPanels, RoundsAsDefined) {
  std::vector<float> x = {0.0f,      -0.0f,        1.0f,      1.00390625f, 1.01171875f, 1.0039063f,
                          3.4e38f,   -3.4e38f,     INFINITY,  -INFINITY,   1e-40f,      -1e-40f,
                          0x1p-126f, 0x1.01p-126f, 0x1.03p5f, -0x1.01p5f};
  for (int i = 0; i < 1000; ++i) x.push_back(Numbers(1000)[i]);
  std::vector<uint16_t> codes(x.size());
  for (size_t n : {size_t{1}, size_t{15}, size_t{16}, size_t{17}, x.size()}) {
    std::fill(codes.begin(), codes.end(), uint16_t{0x1234});
    rounded_->round(x.data(), codes.data(), static_cast<int64_t>(n));
    for (size_t i = 0; i < x.size(); ++i) {
      const auto found = std::bit_cast<float>(uint32_t{codes[i]} << 16);
      if (i >= n) {
        ASSERT_EQ(codes[i], 0x1234) << i;
      } else {
        ASSERT_EQ(found, ToBfloat16(x[i])) << x[i];
      }
    }
  }
  const float nan = NAN;
  uint16_t code = 0;
  rounded_->round(&nan, &code, 1);
  EXPECT_TRUE(std::isnan(std::bit_cast<float>(uint32_t{code} << 16)));
}

// An infinity or NaN reaches its own row alone, and the filling of panels none.
TEST_P(RoundedPanels, UnusualNumbersStayInTheirRow) {
  const int64_t m = 5, n = 50, k = 7;
  std::vector<float> x(Numbers(m * k), Numbers(m * k) + m * k);
  x[2 * k + 6] = INFINITY;
  x[3 * k + 1] = NAN;
  const std::vector<float> zero(Z(n), 0.0f), ones(Z(n * k), 1.0f);
  const std::vector<float> y = Run(x.data(), ones.data(), zero.data(), m, n, k, false);
  for (int64_t j = 0; j < n; ++j) {
    EXPECT_EQ(y[Z(2 * n + j)], INFINITY);
    EXPECT_TRUE(std::isnan(y[Z(3 * n + j)]));
    for (int64_t r : {0, 1, 4}) EXPECT_TRUE(std::isfinite(y[Z(r * n + j)]));
  }
}

// Of one row and few columns, where rounding x is most of the work.
TEST(PanelPrice, IsLessOnAFasterMachine) {
  Machine slow = MachineOf(nullptr);
  slow.threads = 1;
  slow.compute = 1;
  Machine fast = slow;
  fast.compute = 2;
  for (const Rounded* rounded : {static_cast<const Rounded*>(nullptr), &kRounded_avx512}) {
    for (const int64_t n : {1, 8, 64, 500}) {
      const PanelPlan plan(SimdOf(GE_ISA_AVX512), 40, n, 700, rounded);
      EXPECT_LT(PanelNs(plan, fast), PanelNs(plan, slow)) << n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(By, RoundedPanels, ::testing::Bool(), [](const auto& info) {
  return info.param ? std::string("Tiles") : std::string("Vectors");
});

}  // namespace
}  // namespace ge_engines::cpu::native
