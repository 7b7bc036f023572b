// Products of n-bit weights by rows of int8, beside plain arithmetic over the same steps.
#include "plugins/cpu/native/matmul/nbit_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "ge/ge_plugin.h"
#include "plugins/cpu/kit/aligned_block.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/matmul/nbits.h"
#include "plugins/cpu/native/matmul/panels.h"
#include "plugins/cpu/native/quantized/sweeps_testing.h"

namespace ge_engines::cpu::native {
namespace {

TEST(NBitKernels, AgreeWithPlainArithmetic) {
  for (int64_t m = 1; m <= 26; ++m) {
    for (const int zero_bytes : {0, 1}) {
      for (const int bits : {2, 4, 8}) SweepNBits(m, 101, 61, {bits, 16, zero_bytes}, true);
    }
    SweepNBits(m, 33, 150, {4, 64, 1}, true);
  }
  for (const int64_t block : {16, 32, 128, 256}) {
    for (const int64_t k : {block - 1, block, block + 1, 2 * block + 17, int64_t{700}}) {
      for (const int bits : {2, 4, 8}) SweepNBits(3, 50, k, {bits, block, 1}, true);
    }
  }
  for (int64_t n = 1; n <= 97; n += 6) SweepNBits(7, n, 96, {4, 32, 0}, true);
  SweepNBits(2 * kPanelRows + 3, 130, 40, {4, 16, 0}, true);
  SweepNBits(1, 5000, 96, {4, 32, 0}, true);  // pieces for two threads
}

// The greatest values of both sides: sums of 16 and 32 bits hold them.
TEST(NBitKernels, SumsHoldTheGreatestCodes) {
  constexpr int64_t k = 512, n = 48;
  InEachSetting([&](const Setting& s) {
    for (const NBitsForm form : {NBitsForm{2, 256, 1}, {4, 256, 1}, {8, 256, 1}}) {
      const NBitKernels* by = NBitKernelsOf(s.isa.isa, form);
      if (by == nullptr) continue;
      const PanelPlan plan(s.simd(), 1, n, k, form, by);
      const int64_t bytes = n * k * form.bits / 8;
      const std::vector<uint8_t> codes(Z(bytes), 255), zeros(Z(n * 2), 0);
      const std::vector<float> scales(Z(n * 2), 1);
      AlignedBlock packed(plan.weight_floats() * sizeof(float));
      const void* from[] = {codes.data(), scales.data(), zeros.data()};
      PackNBits(plan, from, packed.data());
      for (const float sign : {1.0f, -1.0f}) {
        std::vector<float> x(k, 127 * sign), y(n, kGuard), room(plan.rounded_floats());
        RunLoop(*PanelLoop(s.simd(), plan, false, {}),
                {y.data(), x.data(), static_cast<float*>(packed.data()), x.data(), room.data()});
        const int64_t code = (1 << form.bits) - 1;
        for (const float v : y) ASSERT_EQ(v, sign * static_cast<float>(127 * code * k));
      }
    }
  });
}

// What is no number reaches its own row, and a block of zeros or of the smallest numbers is zero.
TEST(NBitKernels, KeepsWhatIsNoNumber) {
  constexpr int64_t k = 80, n = 16;
  const NBitsForm form = {4, 32, 0};
  const std::vector<uint8_t> codes(n * 3 * 16, 0x9a);
  const std::vector<float> scales(n * 3, 0.5f);
  InEachSetting([&](const Setting& s) {
    const NBitKernels* by = NBitKernelsOf(s.isa.isa, form);
    if (by == nullptr) return;
    const PanelPlan plan(s.simd(), 5, n, k, form, by);
    AlignedBlock packed(plan.weight_floats() * sizeof(float));
    const void* from[] = {codes.data(), scales.data()};
    PackNBits(plan, from, packed.data());
    std::vector<float> x(5 * k, 0.0f), y(5 * n, kGuard), room(plan.rounded_floats());
    x[3] = NAN;
    x[4] = NAN;
    x[k + 70] = INFINITY;
    x[2 * k + 1] = -INFINITY;
    x[3 * k] = 1e-42f;
    RunLoop(*PanelLoop(s.simd(), plan, false, {}),
            {y.data(), x.data(), static_cast<float*>(packed.data()), x.data(), room.data()});
    for (int64_t j = 0; j < n; ++j) {
      ASSERT_TRUE(std::isnan(y[Z(j)]));
      for (const int64_t row : {1, 2}) ASSERT_FALSE(std::isfinite(y[Z(row * n + j)])) << row;
      for (const int64_t row : {3, 4}) ASSERT_EQ(y[Z(row * n + j)], 0) << row;
    }
  });
}

TEST(NBitKernels, NobodyNarrowsWhatDoesNotFit) {
  for (const NBitsForm form : {NBitsForm{4, 512, 0}, {4, 32, 4}, {8, 1024, 1}}) {
    EXPECT_EQ(NBitKernelsOf(GE_ISA_AVX512, form), nullptr) << form.block;
  }
  EXPECT_EQ(NBitKernelsOf(GE_ISA_AVX2, {8, 32, 0}), nullptr);
  EXPECT_EQ(NBitKernelsOf(GE_ISA_SSE42, {4, 32, 0}), nullptr);
}

}  // namespace
}  // namespace ge_engines::cpu::native
