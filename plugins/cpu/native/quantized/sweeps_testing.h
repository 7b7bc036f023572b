// Runs kernels on 8-bit integers at the sizes of a sweep. For tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "plugins/cpu/kit/aligned_block.h"
#include "plugins/cpu/native/matmul/nbit_kernels.h"
#include "plugins/cpu/native/matmul/nbits.h"
#include "plugins/cpu/native/matmul/panels.h"
#include "plugins/cpu/native/matmul/sweeps_testing.h"
#include "plugins/cpu/native/quantized/integer_product.h"
#include "plugins/cpu/native/quantized/quantize_linear.h"
#include "plugins/cpu/native/quantized/rows.h"
#include "plugins/cpu/native/recurrent/recurrent.h"
#include "plugins/cpu/native/sweeps_testing.h"
#include "plugins/units/quantized/quantize_linear.h"
#include "plugins/units/recurrent/recurrent.h"

namespace ge_engines::cpu::native {

// ---- 8-bit integers ---------------------------------------------------------------------------

inline std::vector<uint8_t> Codes(int64_t n) {
  std::mt19937 g(3);
  std::vector<uint8_t> v(Z(n));
  for (uint8_t& x : v) x = static_cast<uint8_t>(g());
  return v;
}

inline void SweepCodes(int64_t m, int64_t n, int64_t k) {
  std::vector<uint8_t> x = Codes(m * k), w = Codes(k * n + 1);
  QuantResult result;
  result.x_zero = true;
  uint8_t zero = 11;
  std::vector<int32_t> want(Z(m * n));
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t d = 0; d < k; ++d) {
      for (int64_t j = 0; j < n; ++j)
        want[Z(i * n + j)] += (x[Z(i * k + d)] - 11) * (w[Z(d * n + j)] - 5);
    }
  }
  InEachSetting([&](const Setting& s) {
    SCOPED_TRACE(testing::Message() << m << " x " << n << " x " << k);
    const IntegerProductPlan plan(s.simd(), m, n, k, result);
    AlignedBlock packed(plan.weight_bytes()), scratch(plan.scratch_bytes());
    plan.Pack(w.data(), false, {5}, packed.data());
    std::vector<int32_t> y(Z(m * n + 1), 0x5a5a5a5a);
    auto* z = reinterpret_cast<float*>(&zero);
    auto* none = z;
    RunLoop(*IntegerProductLoop(s.simd(), plan),
            {reinterpret_cast<float*>(y.data()), reinterpret_cast<float*>(x.data()),
             static_cast<float*>(packed.data()), z, none, none, none, none, none,
             static_cast<float*>(scratch.data())});
    for (int64_t i = 0; i < m * n; ++i) ASSERT_EQ(y[Z(i)], want[Z(i)]) << i;
    ASSERT_EQ(y.back(), 0x5a5a5a5a);
  });
}

// Rounds x as nbit_kernels.h does: in each block of a row the greatest magnitude becomes 127.
inline std::vector<float> Narrowed(const float* x, int64_t m, int64_t k, int64_t block) {
  std::vector<float> y(x, x + m * k);
  for (int64_t at = 0; at < m * k; at += std::min(block, k - at % k)) {
    const int64_t n = std::min(block, k - at % k);
    float most = 0;
    for (int64_t i = at; i < at + n; ++i) most = std::max(most, std::fabs(x[i]));
    const float times = 127 / most, step = most / 127;
    for (int64_t i = at; i < at + n; ++i) y[Z(i)] = std::nearbyint(x[i] * times) * step;
  }
  return y;
}

// Weights of n rows of k as floats.
inline std::vector<float> NBitsWeights(int64_t n, int64_t k, const NBitsForm& form,
                                       const std::vector<uint8_t>& codes,
                                       const std::vector<uint8_t>& zero_codes, const float* zeros,
                                       const float* scales) {
  const int64_t blocks = CeilDiv(k, form.block), row = form.block * form.bits / 8;
  const int64_t zero_row = CeilDiv(blocks * form.bits, 8);
  const auto code = [&](const std::vector<uint8_t>& all, int64_t from, int64_t i) {
    return all[Z(from + i * form.bits / 8)] >> (i * form.bits % 8) & ((1 << form.bits) - 1);
  };
  std::vector<float> w(Z(n * k));
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < k; ++i) {
      const int64_t b = i / form.block;
      const float zero = form.zero_bytes == 4 ? zeros[j * blocks + b]
                         : form.zero_bytes == 1
                             ? static_cast<float>(code(zero_codes, j * zero_row, b))
                             : static_cast<float>(1 << (form.bits - 1));
      w[Z(j * k + i)] =
          (static_cast<float>(code(codes, j * blocks * row, i)) - zero) * scales[j * blocks + b];
    }
  }
  return w;
}

// A product with n-bit weights; zero_bytes as in NBitsForm. narrow: by kernels with 8-bit x, in
// each setting that has them.
inline void SweepNBits(int64_t m, int64_t n, int64_t k, NBitsForm form, bool narrow = false) {
  const int64_t blocks = CeilDiv(k, form.block), row = form.block * form.bits / 8;
  const int64_t zero_row = CeilDiv(blocks * form.bits, 8);
  const std::vector<uint8_t> codes = Codes(n * blocks * row), zero_codes = Codes(n * zero_row);
  const float *x = Numbers(m * k), *bias = Numbers(n) + 7, *scales = Weights(n * blocks);
  const float* zeros = Numbers(n * blocks) + 5;
  const std::vector<float> w = NBitsWeights(n, k, form, codes, zero_codes, zeros, scales);
  const std::vector<float> steps = narrow ? Narrowed(x, m, k, form.block) : std::vector<float>();
  Wanted want = Product(narrow ? steps.data() : x, w.data(), m, n, k, true);
  for (int64_t i = 0; i < m * n; ++i) {
    want.sum[Z(i)] += bias[i % n];
    want.size[Z(i)] += std::fabs(bias[i % n]);
  }
  InEachSetting([&](const Setting& s) {
    SCOPED_TRACE(testing::Message()
                 << m << " x " << n << " x " << k << ", " << form.bits << " bits, blocks of "
                 << form.block << ", zero points of " << form.zero_bytes);
    std::vector<const NBitKernels*> all = {narrow ? NBitKernelsOf(s.isa.isa, form) : nullptr};
    if (narrow && all[0] == nullptr) return;
    // The kernels of a processor with AVX-512 but without VNNI.
    if (narrow && all[0] == &kNBitKernelsAvx512 && form.bits <= 4) {
      all.push_back(&kNBitKernelsAvx2);
    }
    for (const NBitKernels* by : all) {
      const PanelPlan plan(s.simd(), m, n, k, form, by);
      const void* from[] = {
          codes.data(), scales,
          form.zero_bytes == 4 ? static_cast<const void*>(zeros) : zero_codes.data()};
      // Equal packs are kept once: all bytes come from the constants, at any address.
      const size_t bytes = plan.weight_floats() * sizeof(float);
      AlignedBlock packed(bytes), other(bytes);
      std::memset(packed.data(), 0x55, bytes);
      std::memset(other.data(), 0xaa, bytes);
      PackNBits(plan, from, packed.data());
      PackNBits(plan, from, other.data());
      ASSERT_EQ(std::memcmp(packed.data(), other.data(), bytes), 0);
      constexpr uint64_t kThreads = 2;  // at most, of a setting
      std::vector<float> y(Z(m * n + 1), kGuard);
      std::vector<float> room(plan.rounded_floats() + kThreads * plan.tile_floats() + 1, NAN);
      RunLoop(*PanelLoop(s.simd(), plan, true, {}),
              {y.data(), const_cast<float*>(x), static_cast<float*>(packed.data()),
               const_cast<float*>(bias), room.data()});
      want.Expect(y.data(), m * n);
      ASSERT_EQ(y.back(), kGuard);
    }
  });
}

inline void SweepQuantize(int64_t n) {
  float *x = Numbers(n), scale = 0.037f;
  uint8_t zero = 100;
  InEachSetting([&](const Setting& s) {
    SCOPED_TRACE(testing::Message() << n);
    std::vector<uint8_t> codes(Z(n + 1), 77);
    std::vector<float> back(Z(n + 1), kGuard);
    QuantGrid grid;
    grid.inner = n;
    auto *c = reinterpret_cast<float*>(codes.data()), *z = reinterpret_cast<float*>(&zero);
    RunLoop(*QuantizeLoop(s.simd(), grid, false, true), {c, x, &scale, z});
    RunLoop(*DequantizeLoop(s.simd(), grid, false, true), {back.data(), c, &scale, z});
    for (int64_t i = 0; i < n; ++i) {
      const float code = std::clamp(std::nearbyintf(x[i] / scale) + 100, 0.0f, 255.0f);
      ASSERT_EQ(codes[Z(i)], code) << i;
      ASSERT_EQ(back[Z(i)], (code - 100) * scale) << i;
    }
    ASSERT_EQ(codes.back(), 77);
    ASSERT_EQ(back.back(), kGuard);
  });
}

// ---- LSTM --------------------------------------------------------------------------------------

inline double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

inline void SweepLstm(int64_t batch, int64_t inputs, int64_t hidden) {
  RecurrentSpec spec;
  spec.steps = 2;
  spec.batch = batch;
  spec.inputs = inputs;
  spec.hidden = hidden;
  RecurrentHas has;
  has.packed = false;
  for (size_t k = 0; k < 3; ++k) spec.fn[k].kind = k == 0 ? CellFn::kSigmoid : CellFn::kTanh;
  const int64_t gates = 4 * hidden;
  float* x = Numbers(2 * batch * inputs);
  std::vector<float> w = Random(inputs * gates, 5), r = Random(hidden * gates, 6);
  for (float& v : w) v *= 0.05f;
  for (float& v : r) v *= 0.05f;
  std::vector<double> h(Z(batch * hidden)), c(h), want;
  for (int64_t t = 0; t < 2; ++t) {
    std::vector<double> next(h);
    for (int64_t b = 0; b < batch; ++b) {
      std::vector<double> z(Z(gates));
      for (int64_t d = 0; d < inputs; ++d) {
        const double v = x[(t * batch + b) * inputs + d];
        for (int64_t j = 0; j < gates; ++j) z[Z(j)] += v * w[Z(j * inputs + d)];
      }
      for (int64_t d = 0; d < hidden; ++d) {
        const double v = h[Z(b * hidden + d)];
        for (int64_t j = 0; j < gates; ++j) z[Z(j)] += v * r[Z(j * hidden + d)];
      }
      for (int64_t j = 0; j < hidden; ++j) {
        const double in = Sigmoid(z[Z(j)]), out = Sigmoid(z[Z(hidden + j)]),
                     forget = Sigmoid(z[Z(2 * hidden + j)]), cell = std::tanh(z[Z(3 * hidden + j)]);
        double& state = c[Z(b * hidden + j)];
        state = forget * state + in * cell;
        next[Z(b * hidden + j)] = out * std::tanh(state);
      }
    }
    h = next;
    want.insert(want.end(), h.begin(), h.end());
  }
  InEachSetting([&](const Setting& s) {
    SCOPED_TRACE(testing::Message() << "batch " << batch << ", hidden " << hidden);
    const RecurrentPlan plan(s.simd(), spec, has, s.threads);
    std::vector<float> y(want.size() + 1, kGuard), scratch(Z(plan.scratch_floats()));
    float* none = scratch.data();
    RunLoop(*RecurrentKernel(s.simd(), plan), {y.data(), none, none, x, w.data(), r.data(),
                                               scratch.data(), none, none, none, none, none});
    for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(y[i], want[i], 3e-6) << i;
    ASSERT_EQ(y.back(), kGuard);
  });
}

}  // namespace ge_engines::cpu::native
