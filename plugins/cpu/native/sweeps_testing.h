// Checks loops and kernels of the CPU engines, one size a call, against plain sums in double: in
// each instruction set of this host, with one thread and with two. For tests alone.
#pragma once

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "plugins/cpu/kit/aligned_block.h"
#include "plugins/cpu/kit/arrival.h"
#include "plugins/cpu/kit/conv_loop.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/im2col_tiles.h"
#include "plugins/cpu/kit/isa_sets_testing.h"
#include "plugins/cpu/kit/loops.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/conv/direct.h"
#include "plugins/cpu/native/elementwise/compare.h"
#include "plugins/cpu/native/elementwise/where.h"
#include "plugins/cpu/native/index/gather.h"
#include "plugins/cpu/native/matmul/panels.h"
#include "plugins/cpu/native/matmul/thin_product.h"
#include "plugins/cpu/native/reduce/layer_normalization.h"
#include "plugins/cpu/native/reduce/pool.h"
#include "plugins/cpu/native/reduce/reduce.h"
#include "plugins/cpu/native/reduce/softmax.h"
#include "plugins/units/conv/conv.h"

namespace ge_engines::cpu::native {

inline constexpr int64_t kMostRows = 33;  // four blocks of rows and one more
inline constexpr float kGuard = 12345.0f;
// Rounding of a sum of random terms, relative to the sum of their magnitudes: errors of single
// additions are at most 6e-8 of a partial sum, with random signs. A missing or doubled term is as
// large among up to a million.
inline constexpr double kBound = 4e-7;

inline size_t Z(int64_t i) { return static_cast<size_t>(i); }

inline std::vector<float> Random(int64_t n, uint32_t seed) {
  std::mt19937 g(seed);
  std::normal_distribution<float> d;
  std::vector<float> v(Z(n));
  for (float& x : v) x = d(g);
  return v;
}
// The random numbers of all sweeps, made once.
inline float* Numbers(int64_t n) {
  static std::vector<float> all = Random(1 << 21, 1);
  EXPECT_LE(Z(n), all.size());
  return all.data();
}
inline float* Weights(int64_t n) { return Numbers(n + 1001) + 1001; }

struct Setting {
  const IsaSet& isa;
  int threads;
  const Simd& simd() const { return *isa.simd; }
};

template <class F>
void InEachSetting(F call) {
  const int before = omp_get_max_threads();
  for (const IsaSet& isa : IsaSets()) {
    for (const int threads : {1, 2}) {
      omp_set_num_threads(threads);
      Arrival::Forget();
      SCOPED_TRACE(testing::Message() << isa.name << ", " << threads << " threads");
      call(Setting{isa, threads});
      if (testing::Test::HasFatalFailure()) break;
    }
  }
  omp_set_num_threads(before);
}

inline void RunLoop(const Kernel& kernel, std::vector<float*> places) {
  ge_err err = {};
  ASSERT_EQ(kernel.Do({places.data(), nullptr, nullptr, 0, &err}), GE_OK);
}

// A result and the allowed error of each number.
struct Wanted {
  std::vector<double> sum, size;
  explicit Wanted(int64_t n) : sum(Z(n)), size(Z(n)) {}
  void Expect(const float* y, int64_t n, double bound = kBound) const {
    for (int64_t i = 0; i < n; ++i) {
      ASSERT_NEAR(y[i], sum[Z(i)], bound * size[Z(i)] + 1e-30) << "number " << i << " of " << n;
    }
  }
};

// ---- products ----------------------------------------------------------------------------------

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

// ---- rows of floats ----------------------------------------------------------------------------

// relu(x * z + w) with z of each element and w of each column.
inline void SweepPointwise(int64_t rows, int64_t n) {
  const Layout whole = Layout::Dense({rows, n}), row = Layout::Dense({1, n});
  float *x = Numbers(rows * n), *z = Weights(rows * n), *w = Numbers(n) + 5;
  Wanted want(rows * n);
  for (int64_t i = 0; i < rows * n; ++i) {
    const double p = double{x[i]} * z[i], q = w[i % n];
    want.sum[Z(i)] = std::max(p + q, 0.0);
    want.size[Z(i)] = std::fabs(p) + std::fabs(q);
  }
  InEachSetting([&](const Setting& s) {
    SCOPED_TRACE(testing::Message() << rows << " x " << n);
    std::vector<float> y(Z(rows * n + 1), kGuard);
    RunLoop(*PointwiseLoop(s.simd(), whole, whole, {whole, row},
                           {{Fn::kMul, 0, 0, 0}, {Fn::kAdd, 0, 0, 1}, {Fn::kRelu, 0, 0, -1}}),
            {y.data(), x, z, w});
    want.Expect(y.data(), rows * n);
    ASSERT_EQ(y.back(), kGuard);
  });
}

// A product of two tensors, each repeated along each choice of three axes.
inline void SweepRepeated(const Dims& dims) {
  for (int repeats = 0; repeats < 64; ++repeats) {
    Dims xd = dims, zd = dims;
    for (size_t k = 0; k < 3; ++k) {
      if ((repeats >> k & 1) != 0) xd[k] = 1;
      if ((repeats >> (k + 3) & 1) != 0) zd[k] = 1;
    }
    const int64_t all = Product(dims);
    float *x = Numbers(Product(xd)), *z = Weights(Product(zd));
    Wanted want(all);
    const auto at = [&](const Dims& from, int64_t i) {
      const int64_t k[3] = {i / (dims[1] * dims[2]), i / dims[2] % dims[1], i % dims[2]};
      int64_t to = 0;
      for (size_t a = 0; a < 3; ++a) to = to * from[a] + (from[a] == 1 ? 0 : k[a]);
      return to;
    };
    for (int64_t i = 0; i < all; ++i) {
      const double p = double{x[at(xd, i)]} * z[at(zd, i)];
      want.sum[Z(i)] = p;
      want.size[Z(i)] = std::fabs(p);
    }
    InEachSetting([&](const Setting& s) {
      SCOPED_TRACE(testing::Message() << ToText(dims) << " repeated " << repeats);
      std::vector<float> y(Z(all + 1), kGuard);
      RunLoop(*PointwiseLoop(s.simd(), Layout::Dense(dims), Layout::Dense(xd), {Layout::Dense(zd)},
                             {{Fn::kMul, 0, 0, 0}}),
              {y.data(), x, z});
      want.Expect(y.data(), all);
      ASSERT_EQ(y.back(), kGuard);
    });
  }
}

// Sums and greatest of [outer][n][inner] over the middle axis.
inline void SweepReduce(int64_t outer, int64_t n, int64_t inner) {
  const float* x = Numbers(outer * n * inner);
  Wanted sum(outer * inner), top(outer * inner);
  for (int64_t i = 0; i < outer * inner; ++i) {
    const float* p = x + i / inner * n * inner + i % inner;
    top.sum[Z(i)] = p[0];
    for (int64_t k = 0; k < n; ++k) {
      sum.sum[Z(i)] += p[k * inner];
      sum.size[Z(i)] += std::fabs(p[k * inner]);
      top.sum[Z(i)] = std::max<double>(top.sum[Z(i)], p[k * inner]);
    }
  }
  const Layout from = Layout::Dense({outer, n, inner}), to = Layout::Dense({outer, 1, inner});
  InEachSetting([&](const Setting& s) {
    SCOPED_TRACE(testing::Message() << outer << " x " << n << " x " << inner);
    for (const Reduce op : {Reduce::kSum, Reduce::kMax}) {
      std::vector<float> y(Z(outer * inner + 1), kGuard);
      RunLoop(*ReduceLoop(s.simd(), op, from, {1}, to), {y.data(), const_cast<float*>(x)});
      (op == Reduce::kSum ? sum : top).Expect(y.data(), outer * inner);
      ASSERT_EQ(y.back(), kGuard);
    }
  });
}

inline void SweepSoftmax(int64_t outer, int64_t n, int64_t inner) {
  float* x = Numbers(outer * n * inner);
  Wanted want(outer * n * inner);
  for (int64_t i = 0; i < outer * inner; ++i) {
    const int64_t at = i / inner * n * inner + i % inner;
    double top = x[at], sum = 0;
    for (int64_t k = 0; k < n; ++k) top = std::max<double>(top, x[at + k * inner]);
    for (int64_t k = 0; k < n; ++k) sum += std::exp(x[at + k * inner] - top);
    for (int64_t k = 0; k < n; ++k) {
      const double v = std::exp(x[at + k * inner] - top) / sum;
      want.sum[Z(at + k * inner)] = v;
      want.size[Z(at + k * inner)] = v;
    }
  }
  InEachSetting([&](const Setting& s) {
    SCOPED_TRACE(testing::Message() << outer << " x " << n << " x " << inner);
    std::vector<float> y(Z(outer * n * inner + 1), kGuard);
    RunLoop(*SoftmaxLoop(s.simd(), outer, n, inner), {y.data(), x});
    want.Expect(y.data(), outer * n * inner, 2e-6);  // of exp's argument, up to 10, and the sum
    ASSERT_EQ(y.back(), kGuard);
  });
}

inline void SweepRmsNorm(int64_t rows, int64_t n) {
  float *x = Numbers(rows * n), *gamma = Weights(n);
  Wanted want(rows * n);
  for (int64_t r = 0; r < rows; ++r) {
    double square = 0;
    for (int64_t i = 0; i < n; ++i) square += std::pow(x[r * n + i], 2);
    const double scale = 1 / std::sqrt(square / static_cast<double>(n) + 1e-5);
    for (int64_t i = 0; i < n; ++i) {
      const double v = x[r * n + i] * scale * gamma[i];
      want.sum[Z(r * n + i)] = v;
      want.size[Z(r * n + i)] = std::fabs(v) + 1e-3;
    }
  }
  InEachSetting([&](const Setting& s) {
    SCOPED_TRACE(testing::Message() << rows << " x " << n);
    std::vector<float> y(Z(rows * n + 1), kGuard);
    RunLoop(*LayerNormLoop(s.simd(), rows, n, {1e-5f, false}, true, false),
            {y.data(), x, gamma, x});
    want.Expect(y.data(), rows * n, 2e-6);
    ASSERT_EQ(y.back(), kGuard);
  });
}

inline void SweepLayerNorm(int64_t rows, int64_t n) {
  float *x = Numbers(rows * n), *gamma = Weights(n), *beta = Numbers(n) + 3;
  Wanted want(rows * n);
  for (int64_t r = 0; r < rows; ++r) {
    double mean = 0, square = 0;
    for (int64_t i = 0; i < n; ++i) mean += double{x[r * n + i]} / static_cast<double>(n);
    for (int64_t i = 0; i < n; ++i) square += std::pow(x[r * n + i] - mean, 2);
    const double scale = 1 / std::sqrt(square / static_cast<double>(n) + 1e-5);
    for (int64_t i = 0; i < n; ++i) {
      const double v = (x[r * n + i] - mean) * scale * gamma[i];
      want.sum[Z(r * n + i)] = v + beta[i];
      want.size[Z(r * n + i)] =
          std::fabs(v) + std::fabs(beta[i]) + std::fabs(gamma[i] * scale * mean) + 1;
    }
  }
  InEachSetting([&](const Setting& s) {
    SCOPED_TRACE(testing::Message() << rows << " x " << n);
    std::vector<float> y(Z(rows * n + 1), kGuard);
    RunLoop(*LayerNormLoop(s.simd(), rows, n, {1e-5f}, true, true), {y.data(), x, gamma, beta});
    want.Expect(y.data(), rows * n, 2e-6);
    ASSERT_EQ(y.back(), kGuard);
  });
}

inline void SweepCompareAndSelect(int64_t n) {
  float *x = Numbers(n), *z = Weights(n);
  InEachSetting([&](const Setting& s) {
    SCOPED_TRACE(testing::Message() << n);
    std::vector<uint8_t> less(Z(n + 1), 9);
    std::vector<float> y(Z(n + 1), kGuard);
    auto* bytes = reinterpret_cast<float*>(less.data());
    RunLoop(*CompareLoop(s.simd(), Compare::kLess, n, false), {bytes, x, z});
    RunLoop(*WhereLoop(s.simd(), {n}, {n}, {n}, {n}), {y.data(), bytes, x, z});
    for (int64_t i = 0; i < n; ++i) ASSERT_EQ(y[Z(i)], std::min(x[i], z[i])) << i;
    ASSERT_EQ(y.back(), kGuard);
    ASSERT_EQ(less.back(), 9);
  });
}

// Where with operands repeated along any axes of [a][`right`][n].
inline void SweepWhere(int64_t left, int64_t right, int64_t n) {
  const Dims result = {left, right, n};
  float *x = Numbers(left * right * n), *z = Weights(left * right * n);
  std::vector<uint8_t> c(Z(left * right * n));
  std::mt19937 g(11);
  for (uint8_t& v : c) v = static_cast<uint8_t>(g() % 3 == 0 ? 0 : g() % 5 + 1);
  const std::vector<Dims> shapes = {result, {left, 1, n}, {right, n}, {n}, {right, 1}, {1}, {}};
  for (size_t k = 0; k < shapes.size() * shapes.size(); ++k) {
    const Dims of[3] = {shapes[k % shapes.size()], shapes[k / shapes.size()],
                        shapes[(2 * k + 3) % shapes.size()]};
    auto at = [&](const Dims& d, int64_t i) {
      int64_t place = 0, stride = 1;
      for (size_t back = 1; back <= d.size(); ++back, i /= result[3 - back + 1]) {
        if (d[d.size() - back] > 1) place += i % result[3 - back] * stride;
        stride *= d[d.size() - back];
      }
      return Z(place);
    };
    InEachSetting([&](const Setting& s) {
      SCOPED_TRACE(testing::Message() << left << " x " << right << " x " << n << ", shapes " << k);
      std::vector<float> y(Z(left * right * n + 1), kGuard);
      RunLoop(*WhereLoop(s.simd(), result, of[0], of[1], of[2]),
              {y.data(), reinterpret_cast<float*>(c.data()), x, z});
      for (int64_t i = 0; i < left * right * n; ++i) {
        const float want = c[at(of[0], i)] != 0 ? x[at(of[1], i)] : z[at(of[2], i)];
        ASSERT_EQ(y[Z(i)], want) << i;
      }
      ASSERT_EQ(y.back(), kGuard);
    });
  }
}

// ---- copies ------------------------------------------------------------------------------------

// Two sources of [rows][a] and [rows][`second`] side by side.
inline void SweepTogether(int64_t rows, int64_t first, int64_t second) {
  const Layout to = Layout::Dense({rows, first + second}), left = Layout::Dense({rows, first}),
               right = Layout::Dense({rows, second});
  float *x = Numbers(rows * first), *z = Weights(rows * second);
  InEachSetting([&](const Setting& s) {
    SCOPED_TRACE(testing::Message() << rows << " x " << first << " + " << second);
    std::vector<float> y(Z(rows * (first + second) + 1), kGuard);
    RunLoop(*CopyLoop(s.simd(), to,
                      {{left, to, {0, 0}, {0, 0}, {rows, first}},
                       {right, to, {0, 0}, {0, first}, {rows, second}}}),
            {y.data(), x, z});
    for (int64_t i = 0; i < rows * (first + second); ++i) {
      const int64_t r = i / (first + second), c = i % (first + second);
      ASSERT_EQ(y[Z(i)], c < first ? x[r * first + c] : z[r * second + c - first]) << i;
    }
    ASSERT_EQ(y.back(), kGuard);
  });
}

inline void SweepTranspose(int64_t rows, int64_t columns) {
  const Layout to = Layout::Dense({columns, rows});
  Layout from = to;
  from.stride[0] = 1;
  from.stride[1] = columns;
  float* x = Numbers(rows * columns);
  InEachSetting([&](const Setting& s) {
    SCOPED_TRACE(testing::Message() << rows << " x " << columns);
    std::vector<float> y(Z(rows * columns + 1), kGuard);
    RunLoop(*CopyLoop(s.simd(), to, {{from, to, {0, 0}, {0, 0}, {columns, rows}}}), {y.data(), x});
    for (int64_t i = 0; i < rows * columns; ++i) {
      ASSERT_EQ(y[Z(i)], x[i % rows * columns + i / rows]) << i;
    }
    ASSERT_EQ(y.back(), kGuard);
  });
}

// Indices one by one (step 7), and in runs (step 1).
inline void SweepGather(int64_t outer, int64_t count, int64_t inner) {
  Gather g;
  g.outer = outer;
  g.axis = 11;
  g.inner = inner;
  g.count = count;
  float* x = Numbers(outer * g.axis * inner);
  for (const int64_t step : {7, 1}) {
    std::vector<int64_t> index(Z(count));
    for (int64_t i = 0; i < count; ++i) index[Z(i)] = i * step % 11 - (i % 3 == 0 ? 11 : 0);
    InEachSetting([&](const Setting&) {
      SCOPED_TRACE(testing::Message()
                   << outer << " x " << count << " x " << inner << " by " << step);
      std::vector<float> y(Z(outer * count * inner + 1), kGuard);
      RunLoop(*GatherLoop(g), {y.data(), x, reinterpret_cast<float*>(index.data())});
      for (int64_t i = 0; i < outer * count * inner; ++i) {
        const int64_t row = i / inner / count * g.axis + i / inner % count * step % 11;
        ASSERT_EQ(y[Z(i)], x[row * inner + i % inner]) << i;
      }
      ASSERT_EQ(y.back(), kGuard);
    });
  }
}

// ---- windows -----------------------------------------------------------------------------------

// Pools of `window` rows by three columns at stride 1.
inline void SweepPool(int64_t planes, int64_t height, int64_t width, int64_t window,
                      int64_t stride = 1) {
  Pool p;
  p.x = {1, planes, height, width};
  p.result = {1, planes, height - window + 1, (width - 3) / stride + 1};
  p.window = {window, 3};
  p.stride = {1, stride};
  p.dilation = {1, 1};
  p.pad_begin = p.pad_end = {0, 0};
  float* x = Numbers(planes * height * width);
  const int64_t high = p.result[2], wide = p.result[3], count = planes * high * wide;
  for (const bool max : {true, false}) {
    p.max = max;
    Wanted want(count);
    for (int64_t i = 0; i < count; ++i) {
      const float* at =
          x + i / (high * wide) * height * width + i / wide % high * width + i % wide * stride;
      double sum = 0, size = 0, top = at[0];
      for (int64_t t = 0; t < window * 3; ++t) {
        const double v = at[t / 3 * width + t % 3];
        sum += v;
        size += std::fabs(v);
        top = std::max(top, v);
      }
      want.sum[Z(i)] = max ? top : sum / static_cast<double>(window * 3);
      want.size[Z(i)] = max ? 0 : size / static_cast<double>(window * 3);
    }
    InEachSetting([&](const Setting& s) {
      SCOPED_TRACE(testing::Message() << planes << " x " << height << " x " << width);
      std::vector<float> y(Z(count + 1), kGuard);
      RunLoop(*PoolLoop(s.simd(), p), {y.data(), x});
      want.Expect(y.data(), count);
      ASSERT_EQ(y.back(), kGuard);
    });
  }
}

// Depth-wise 3 x 3 at stride 1 with a border of one; answers the strips of an image.
inline int64_t SweepDepthwise(int64_t channels, int64_t height, int64_t width) {
  ConvSpec c;
  c.groups = channels;
  c.src = c.dst = {1, channels, height, width};
  c.weights = {channels, 1, 1, 3, 3};
  c.stride = c.dilation = c.pad_l = c.pad_r = {1, 1};
  const int64_t plane = height * width, count = channels * plane;
  float *x = Numbers(count), *w = Weights(channels * 9), *bias = Numbers(channels) + 9;
  Wanted want(count);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t o = i / plane, y0 = i % plane / width, x0 = i % width;
    want.sum[Z(i)] = bias[o];
    want.size[Z(i)] = std::fabs(bias[o]);
    for (int64_t t = 0; t < 9; ++t) {
      const int64_t row = y0 + t / 3 - 1, column = x0 + t % 3 - 1;
      if (row < 0 || row >= height || column < 0 || column >= width) continue;
      const double v = double{x[o * plane + row * width + column]} * w[o * 9 + t];
      want.sum[Z(i)] += v;
      want.size[Z(i)] += std::fabs(v);
    }
  }
  int64_t strips = 0;
  InEachSetting([&](const Setting& s) {
    SCOPED_TRACE(testing::Message() << channels << " x " << height << " x " << width);
    Machine m;
    m.isa = s.isa.isa;
    m.threads = s.threads;
    const DirectPlan plan(c, m);
    if (s.threads == 1) strips = plan.strips;
    std::vector<float> y(Z(count + 1), kGuard),
        room(plan.workspace_floats() * static_cast<uint64_t>(s.threads), NAN);
    RunLoop(*DirectLoop(s.simd(), plan, {}), {y.data(), x, w, bias, room.data()});
    want.Expect(y.data(), count);
    ASSERT_EQ(y.back(), kGuard);
  });
  return strips;
}

struct ConvSize {
  int64_t in, out, height, width, kernel, stride, pad;
};
// A convolution with bias and Relu by gathered windows and native's own product, and a direct one;
// answers the pieces of an image with one thread.
inline int64_t SweepConv(const ConvSize& size) {
  ConvSpec c;
  const int64_t high = (size.height + 2 * size.pad - size.kernel) / size.stride + 1,
                wide = (size.width + 2 * size.pad - size.kernel) / size.stride + 1;
  c.src = {2, size.in, size.height, size.width};
  c.dst = {2, size.out, high, wide};
  c.weights = {size.out, size.in, size.kernel, size.kernel};
  c.stride = {size.stride, size.stride};
  c.dilation = {1, 1};
  c.pad_l = c.pad_r = {size.pad, size.pad};
  const int64_t plane = size.height * size.width, taps = size.kernel * size.kernel,
                depth = size.in * taps;
  const int64_t pixels = high * wide, count = 2 * size.out * pixels;
  float *x = Numbers(2 * size.in * plane), *w = Weights(size.out * depth),
        *bias = Numbers(size.out) + 9;
  Wanted want(count);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t o = i / pixels % size.out, image = i / pixels / size.out;
    for (int64_t d = 0; d < depth; ++d) {
      const int64_t row = i % pixels / wide * size.stride + d % taps / size.kernel - size.pad;
      const int64_t column = i % wide * size.stride + d % size.kernel - size.pad;
      if (row < 0 || row >= size.height || column < 0 || column >= size.width) continue;
      const int64_t at = (image * size.in + d / taps) * plane + row * size.width + column;
      const double v = double{x[at]} * w[o * depth + d];
      want.sum[Z(i)] += v;
      want.size[Z(i)] += std::fabs(v);
    }
    want.sum[Z(i)] = std::max(want.sum[Z(i)] + bias[o], 0.0);
    want.size[Z(i)] += std::fabs(bias[o]);
  }
  const ConvShape shape(c);
  int64_t pieces = 0;
  InEachSetting([&](const Setting& s) {
    SCOPED_TRACE(testing::Message()
                 << size.in << " to " << size.out << " at " << size.height << " x " << size.width);
    const Im2colTiles cut(shape, s.threads, kGatheredFloats, kGatheredColumns);
    if (s.threads == 1) pieces = cut.count;
    AlignedBlock room(cut.bytes() * static_cast<uint64_t>(s.threads));
    auto multiply = [&s](const TileProduct& p, const float* a, const float* b, float* to) {
      s.simd().thin_product(a, p.lda, b, p.ldb, to, p.ldc, p.m, p.n, p.k);
    };
    std::vector<float> y(Z(count + 1), kGuard);
    const std::vector<PointwiseOp> post_ops = {{Fn::kRelu, 0, 0, -1}};
    RunLoop(*ConvLoop(multiply, shape, cut, s.threads, false, {&s.simd(), true, post_ops}),
            {y.data(), x, w, static_cast<float*>(room.data()), bias});
    want.Expect(y.data(), count);
    ASSERT_EQ(y.back(), kGuard);
    Machine m;
    m.isa = s.isa.isa;
    m.threads = s.threads;
    const DirectPlan plan(c, m);
    std::vector<float> strips(plan.workspace_floats() * static_cast<uint64_t>(s.threads), NAN);
    std::fill(y.begin(), y.end(), kGuard);
    RunLoop(*DirectLoop(s.simd(), plan, post_ops), {y.data(), x, w, bias, strips.data()});
    want.Expect(y.data(), count);
    ASSERT_EQ(y.back(), kGuard);
  });
  return pieces;
}

}  // namespace ge_engines::cpu::native
