// Runs matrix products at the sizes of a sweep. For tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/native/matmul/panels.h"
#include "plugins/cpu/native/matmul/thin_product.h"
#include "plugins/cpu/native/sweeps_testing.h"

namespace ge_engines::cpu::native {

inline constexpr int64_t kMostRows = 33;  // four blocks of rows and one more

// left [m][k] times `right` [k][n], or [n][k] if `transposed`.
inline Wanted Product(const float* left, const float* right, int64_t m, int64_t n, int64_t k,
                      bool transposed) {
  Wanted w(m * n);
  for (int64_t i = 0; i < m; ++i) {
    double *sum = w.sum.data() + i * n, *size = w.size.data() + i * n;
    for (int64_t d = 0; d < k; ++d) {
      const double v = left[i * k + d];
      const float* row = transposed ? right + d : right + d * n;
      for (int64_t j = 0; j < n; ++j) {
        const double p = v * double{row[transposed ? j * k : j]};
        sum[j] += p;
        size[j] += std::fabs(p);
      }
    }
  }
  return w;
}

// The kernels for rows 1 to 33 of one matrix.
inline void SweepProduct(int64_t n, int64_t k) {
  SCOPED_TRACE(testing::Message() << "columns " << n << ", depth " << k);
  const float *a = Numbers(kMostRows * k), *b = Weights(n * k);
  const Wanted plain = Product(a, b, kMostRows, n, k, false),
               transposed = Product(a, b, kMostRows, n, k, true);
  std::vector<float> y(Z(kMostRows * n + 1));
  for (const IsaSet& isa : IsaSets()) {
    for (int64_t m = 1; m <= kMostRows; ++m) {
      SCOPED_TRACE(testing::Message() << isa.name << ", rows " << m);
      std::fill(y.begin(), y.end(), kGuard);
      isa.simd->thin_product(a, k, b, n, y.data(), n, m, n, k);
      plain.Expect(y.data(), m * n);
      ASSERT_EQ(y[Z(m * n)], kGuard);
      std::fill(y.begin(), y.end(), kGuard);
      isa.simd->dot_rows(a, k, b, k, y.data(), n, m, n, k);
      transposed.Expect(y.data(), m * n);
      ASSERT_EQ(y[Z(m * n)], kGuard);
    }
  }
}

// The loop around them: threads, batches, scale and bias.
inline void SweepProductLoop(int64_t batch, int64_t m, int64_t n, int64_t k) {
  for (const bool transposed : {false, true}) {
    ThinProduct t;
    t.batch = batch;
    t.m = m;
    t.n = n;
    t.k = k;
    t.x_batch = m * k;
    t.w_batch = 0;
    t.w_by_columns = transposed;
    t.alpha = 0.5f;
    t.bias = true;
    float *x = Numbers(batch * m * k), *w = Weights(n * k), *bias = Numbers(n) + 7;
    Wanted want = Product(x, w, batch * m, n, k, transposed);
    for (int64_t i = 0; i < batch * m * n; ++i) {
      want.sum[Z(i)] = want.sum[Z(i)] / 2 + bias[i % n];
      want.size[Z(i)] = want.size[Z(i)] / 2 + std::fabs(bias[i % n]);
    }
    InEachSetting([&](const Setting& s) {
      SCOPED_TRACE(testing::Message() << batch << " x " << m << " x " << n << " x " << k);
      std::vector<float> y(Z(batch * m * n + 1), kGuard);
      RunLoop(*ThinProductLoop(s.simd(), t), {y.data(), x, w, bias});
      want.Expect(y.data(), batch * m * n);
      ASSERT_EQ(y.back(), kGuard);
    });
  }
}

// Weights in panels, with bias and post-ops: relu((x * w + bias) * z).
inline void SweepPanels(int64_t m, int64_t n, int64_t k) {
  float *x = Numbers(m * k), *w = Weights(n * k), *bias = Numbers(n) + 7, *z = Numbers(m * n) + 3;
  for (const bool transposed : {false, true}) {
    Wanted want = Product(x, w, m, n, k, transposed);
    for (int64_t i = 0; i < m * n; ++i) {
      want.sum[Z(i)] = std::max((want.sum[Z(i)] + bias[i % n]) * z[i], 0.0);
      want.size[Z(i)] = (want.size[Z(i)] + std::fabs(bias[i % n])) * std::fabs(z[i]);
    }
    InEachSetting([&](const Setting& s) {
      SCOPED_TRACE(testing::Message()
                   << m << " x " << n << " x " << k << ", turned " << transposed);
      const PanelPlan plan(s.simd(), m, n, k);
      std::vector<float> packed(plan.weight_floats(), NAN), y(Z(m * n + 1), kGuard);
      plan.Pack(w, transposed, packed.data());
      RunLoop(*PanelLoop(s.simd(), plan, true, {{Fn::kMul, 0, 0, true}, {Fn::kRelu, 0, 0, false}}),
              {y.data(), x, packed.data(), bias, z});
      want.Expect(y.data(), m * n);
      ASSERT_EQ(y.back(), kGuard);
    });
  }
}

// Depths and columns with n * k at both sides of `floats`, and tails of both.
inline void SweepAround(int64_t floats, int64_t n) {
  const int64_t k = (floats + n - 1) / n;
  for (const int64_t depth : {k - 1, k, k + 1, k + 5}) SweepProduct(n, depth);
}

}  // namespace ge_engines::cpu::native
