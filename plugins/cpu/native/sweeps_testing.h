// Checks loops and kernels of the CPU engines, one size a call, against plain sums in double: in
// each instruction set of this host, with one thread and with two. Holds the numbers, settings and
// checks of every sweep, and the sweeps of rows and copies. For tests alone.
#pragma once

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "plugins/cpu/kit/arrival.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/isa_sets_testing.h"
#include "plugins/cpu/kit/loops.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/native/elementwise/compare.h"
#include "plugins/cpu/native/elementwise/where.h"
#include "plugins/cpu/native/index/gather.h"
#include "plugins/cpu/native/reduce/layer_normalization.h"
#include "plugins/cpu/native/reduce/reduce.h"
#include "plugins/cpu/native/reduce/softmax.h"

namespace ge_engines::cpu::native {

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
    RunLoop(*WhereLoop(s.simd(), 4, {n}, {n}, {n}, {n}), {y.data(), bytes, x, z});
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
      RunLoop(*WhereLoop(s.simd(), 4, result, of[0], of[1], of[2]),
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

}  // namespace ge_engines::cpu::native
