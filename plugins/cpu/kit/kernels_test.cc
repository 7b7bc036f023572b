// The kernels of simd/ against plain arithmetic in double, in each instruction set of this host, at
// lengths around those of vectors.
#include "plugins/cpu/kit/simd/kernels.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "plugins/cpu/kit/isa_sets_testing.h"

namespace ge_engines::cpu {
namespace {

std::vector<float> Random(size_t n, uint32_t seed, float scale = 2.0f) {
  std::mt19937 g(seed);
  std::normal_distribution<float> d(0.0f, scale);
  std::vector<float> v(n);
  for (float& x : v) x = d(g);
  return v;
}
constexpr float kGuard = 12345.0f;
const std::vector<int64_t> kLengths = {0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 64, 100, 257};

constexpr double kUnit = 0x1p-24;  // the unit roundoff of float
// Of a sum of n products, as a share of the sum of their magnitudes: roundings fall either way, so
// sqrt(n) of them, twice; and one of the product itself.
double SumBound(int64_t n) { return (2 * std::sqrt(static_cast<double>(n)) + 2) * kUnit; }

struct Case {
  Fn fn;
  std::function<double(double)> want;
  double bound;  // of the error, relative to |want|
  enum Arguments { kAll, kPositive, kToOne, kFromOne } arguments = kAll;
  // Of x: what the kernel adds up where that cancels; the bound is relative to it there.
  double terms = 0;
};

// Beside the bound: what two roundings of the argument do, and what is flushed to zero.
double Allowed(const Case& c, double x) {
  const double want = c.want(x);
  const double moved = std::fabs(c.want(x * (1 + 0x1p-24)) - want);
  const double size = c.terms > 0 ? c.terms * std::fabs(x) : 0;
  return c.bound * std::max(size, std::fabs(want)) + (std::isfinite(moved) ? 2 * moved : 0) +
         std::numeric_limits<float>::min();
}
const std::vector<Case>& UnaryCases() {
  static constexpr double kA = 0.3f, kB = 0.7f;
  static const std::vector<Case> cases = {
      {Fn::kLinear, [](double x) { return kA * x + kB; }, 2e-7},
      {Fn::kRelu, [](double x) { return x < 0 ? kA * x : x; }, 1e-7},
      {Fn::kClip, [](double x) { return std::min(std::max(x, kA), kB); }, 0},
      {Fn::kSigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, 2e-7},
      {Fn::kTanh, [](double x) { return std::tanh(x); }, 3e-7},
      {Fn::kHardSigmoid, [](double x) { return std::min(std::max(kA * x + kB, 0.0), 1.0); }, 1e-7},
      {Fn::kHardSwish, [](double x) { return x * std::min(std::max(kA * x + kB, 0.0), 1.0); },
       2e-7},
      {Fn::kSwish, [](double x) { return x / (1 + std::exp(-x)); }, 3e-7},
      // x / 2 times 1 + erf, a fit that is off by 3e-6 of the 1: in the left tail little is left.
      {Fn::kGelu, [](double x) { return x / 2 * std::erfc(-x / std::sqrt(2.0)); }, 3e-6, Case::kAll,
       1},
      {Fn::kGeluTanh,
       [](double x) {
         // (1 + tanh z) / 2, which cancels in the left tail, is 1 / (1 + exp(-2 z))
         return x / (1 + std::exp(-2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
       },
       4e-7},
      {Fn::kErf, [](double x) { return std::erf(x); }, 5e-7},
      {Fn::kExp, [](double x) { return std::exp(x); }, 2e-7},
      {Fn::kSqrt, [](double x) { return std::sqrt(x); }, 1e-7, Case::kPositive},
      {Fn::kAbs, [](double x) { return std::fabs(x); }, 0},
      {Fn::kReciprocal, [](double x) { return 1 / x; }, 1e-7},
      {Fn::kSquare, [](double x) { return x * x; }, 1e-7},
      {Fn::kCube, [](double x) { return x * x * x; }, 2e-7},
      {Fn::kSin, [](double x) { return std::sin(x); }, 2e-7},
      {Fn::kCos, [](double x) { return std::cos(x); }, 2e-7},
      {Fn::kLog, [](double x) { return std::log(x); }, 2e-7, Case::kPositive},
      {Fn::kFloor, [](double x) { return std::floor(x); }, 0},
      {Fn::kCeil, [](double x) { return std::ceil(x); }, 0},
      {Fn::kRound, [](double x) { return std::nearbyint(x); }, 0},
      {Fn::kSign, [](double x) { return x > 0   ? 1.0
                                        : x < 0 ? -1.0
                                                : x; }, 0},
      {Fn::kElu, [](double x) { return x < 0 ? kA * std::expm1(x) : x; }, 2e-7},
      {Fn::kSoftplus,
       [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }, 3e-7},
      {Fn::kShrink, [](double x) { return x < -kA  ? x + kB
                                          : x > kA ? x - kB
                                                   : 0; }, 1e-7},
      {Fn::kTan, [](double x) { return std::tan(x); }, 3e-7},
      {Fn::kAsin, [](double x) { return std::asin(x); }, 3e-7, Case::kToOne},
      {Fn::kAcos, [](double x) { return std::acos(x); }, 3e-7, Case::kToOne},
      {Fn::kAtan, [](double x) { return std::atan(x); }, 2e-7},
      {Fn::kSinh, [](double x) { return std::sinh(x); }, 5e-7},
      {Fn::kCosh, [](double x) { return std::cosh(x); }, 5e-7},
      {Fn::kAsinh, [](double x) { return std::asinh(x); }, 5e-7},
      {Fn::kAcosh, [](double x) { return std::acosh(x); }, 5e-7, Case::kFromOne},
      {Fn::kAtanh, [](double x) { return std::atanh(x); }, 5e-7, Case::kToOne},
  };
  return cases;
}

TEST(Kernels, UnaryFunctions) {
  EXPECT_EQ(UnaryCases().size(), static_cast<size_t>(Fn::kFirstBinary));
  for (const IsaSet& s : IsaSets()) {
    for (const Case& c : UnaryCases()) {
      for (int64_t n : kLengths) {
        for (float scale : {1.0f, 20.0f}) {
          std::vector<float> x = Random(static_cast<size_t>(n), 7, scale);
          for (float& v : x) {
            if (c.arguments == Case::kToOne) v = std::fmod(v, 1.0f);
            if (c.arguments == Case::kPositive) v = std::fabs(v);
            if (c.arguments == Case::kFromOne) v = 1 + std::fabs(v);
          }
          std::vector<float> y(x.size() + 1, kGuard);
          s.simd->unary(c.fn, 0.3f, 0.7f, x.data(), y.data(), n);
          EXPECT_EQ(y.back(), kGuard);
          for (size_t i = 0; i < x.size(); ++i) {
            const double want = c.want(x[i]);
            ASSERT_NEAR(y[i], want, Allowed(c, x[i]))
                << s.name << " fn " << static_cast<int>(c.fn) << " of " << x[i] << ", n " << n;
          }
          s.simd->unary(c.fn, 0.3f, 0.7f, x.data(), x.data(), n);  // in place
          y.pop_back();
          EXPECT_EQ(x, y) << s.name << " fn " << static_cast<int>(c.fn);
        }
      }
    }
  }
}

TEST(Kernels, UnaryFunctionsOfUnusualNumbers) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {0.0f,    inf,     -inf,  1e-40f, -1e-40f, 88.7f, 88.8f,
                                -104.0f, -110.0f, 1e30f, -1e30f, 9000.0f, 1e6f};
  for (const IsaSet& s : IsaSets()) {
    for (const Case& c : UnaryCases()) {
      if (c.fn == Fn::kCube || c.fn == Fn::kSquare) continue;  // overflow where double does not
      std::vector<float> y(x.size());
      s.simd->unary(c.fn, 0.3f, 0.7f, x.data(), y.data(), static_cast<int64_t>(x.size()));
      for (size_t i = 0; i < x.size(); ++i) {
        const float want = static_cast<float>(c.want(x[i]));
        if (std::isnan(want) || x[i] == -inf) continue;  // e.g. -inf * 0
        if (std::isinf(want)) {
          EXPECT_EQ(y[i], want) << s.name << " fn " << static_cast<int>(c.fn) << " of " << x[i];
        } else {
          EXPECT_NEAR(y[i], want, Allowed(c, x[i]))
              << s.name << " fn " << static_cast<int>(c.fn) << " of " << x[i];
        }
      }
      if (c.fn == Fn::kShrink) continue;  // of NaN it is 0
      float nan = std::numeric_limits<float>::quiet_NaN();
      s.simd->unary(c.fn, 0.3f, 0.7f, &nan, &nan, 1);
      EXPECT_TRUE(std::isnan(nan)) << s.name << " fn " << static_cast<int>(c.fn);
    }
  }
}

TEST(Kernels, BinaryFunctionsKeepNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const IsaSet& s : IsaSets()) {
    for (int f = static_cast<int>(Fn::kAdd); f <= static_cast<int>(Fn::kRDiv); ++f) {
      for (int at = 0; at < 2; ++at) {
        std::vector<float> x(21, 1.0f), z(21, 2.0f), y(21);
        (at == 0 ? x : z)[20] = nan;
        s.simd->binary(static_cast<Fn>(f), x.data(), z.data(), y.data(), 21);
        EXPECT_TRUE(std::isnan(y[20])) << s.name << " fn " << f;
        EXPECT_FALSE(std::isnan(y[19])) << s.name << " fn " << f;
        s.simd->binary_scalar(static_cast<Fn>(f), x.data(), z[20], y.data(), 21);
        EXPECT_TRUE(std::isnan(y[20])) << s.name << " fn " << f;
      }
    }
    for (int64_t n : {1, 5, 16, 63, 64, 200}) {
      for (int64_t at = 0; at < n; ++at) {
        std::vector<float> x = Random(static_cast<size_t>(n), 3);
        x[static_cast<size_t>(at)] = nan;
        EXPECT_TRUE(std::isnan(s.simd->reduce(Reduce::kMax, x.data(), n))) << s.name;
        EXPECT_TRUE(std::isnan(s.simd->reduce(Reduce::kMin, x.data(), n))) << s.name;
      }
      std::vector<float> x(static_cast<size_t>(n), std::numeric_limits<float>::infinity());
      x[0] = -x[0];  // whose sum is NaN, but not the greatest
      EXPECT_EQ(s.simd->reduce(Reduce::kMax, x.data(), n), n == 1 ? x[0] : -x[0]) << s.name;
    }
  }
}

TEST(Kernels, Gates) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const IsaSet& s : IsaSets()) {
    std::vector<float> x(37, 5.0f), z(37), y(37);
    for (size_t i = 0; i < z.size(); ++i) z[i] = static_cast<float>(i % 3) - 1;  // -1, 0 and 1
    z[36] = nan;
    s.simd->binary(Fn::kGate, x.data(), z.data(), y.data(), 37);
    for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], z[i] > 0 ? 5.0f : 0.0f) << s.name << i;
    s.simd->binary(Fn::kRGate, z.data(), x.data(), y.data(), 37);
    for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], z[i] > 0 ? 5.0f : 0.0f) << s.name << i;
    s.simd->binary_scalar(Fn::kGate, x.data(), 0.0f, y.data(), 37);
    for (const float v : y) EXPECT_EQ(v, 0.0f) << s.name;
  }
}

TEST(Kernels, Reductions) {
  const std::vector<float> x = Random(40 * 257, 5);
  for (const IsaSet& s : IsaSets()) {
    for (int64_t n : kLengths) {
      if (n == 0) continue;
      double sum = 0, top = x[0], square = 0, total = 0, terms = 0;
      for (int64_t i = 0; i < n; ++i) {
        sum += x[static_cast<size_t>(i)];
        terms += std::fabs(x[static_cast<size_t>(i)]);
        top = std::max<double>(top, x[static_cast<size_t>(i)]);
      }
      EXPECT_NEAR(s.simd->reduce(Reduce::kSum, x.data(), n), sum, SumBound(n) * terms)
          << s.name << n;
      EXPECT_EQ(s.simd->reduce(Reduce::kMax, x.data(), n), top) << s.name << n;
      const double mean = sum / static_cast<double>(n);
      for (int64_t i = 0; i < n; ++i) {
        square += std::pow(x[static_cast<size_t>(i)] - mean, 2) / static_cast<double>(n);
        total += std::exp(x[static_cast<size_t>(i)] - top);
      }
      std::vector<float> y(static_cast<size_t>(n) + 1, kGuard);
      s.simd->softmax(x.data(), y.data(), n);
      for (size_t i = 0; i + 1 < y.size(); ++i) {
        const double want = std::exp(x[i] - top) / total;
        // x - top, of magnitude 20 at most, is rounded before exp; then exp, the sum, the quotient.
        ASSERT_NEAR(y[i], want, (20 * kUnit + SumBound(n) + 4 * kUnit) * want) << s.name << n;
      }
      for (int gamma = 0; gamma < 2; ++gamma) {
        s.simd->layer_norm(x.data(), gamma ? x.data() + 1000 : nullptr, x.data() + 2000, 1e-5f,
                           y.data(), n);
        for (size_t i = 0; i + 1 < y.size(); ++i) {
          const double deviation = std::sqrt(square + 1e-5f), v = (x[i] - mean) / deviation;
          const double g = gamma ? x[i + 1000] : 1, by = x[i + 2000];
          // x and the mean are each rounded; they are divided by the deviation, and the bias added.
          const double size = (std::fabs(x[i]) + terms / static_cast<double>(n)) / deviation;
          const double share = 4 * kUnit + SumBound(n);
          ASSERT_NEAR(y[i], v * g + by,
                      share * (size * std::fabs(g) + std::fabs(v * g) + std::fabs(by)))
              << s.name << n;
        }
      }
      EXPECT_EQ(y.back(), kGuard);
      for (Reduce op : {Reduce::kSum, Reduce::kMax, Reduce::kMin}) {
        std::vector<float> acc(y.size(), 0.5f);
        s.simd->reduce_rows(op, x.data(), 37, n, acc.data(), n);
        for (size_t i = 0; i + 1 < acc.size(); ++i) {
          double want = 0.5, size = 0.5;
          for (size_t r = 0; r < 37; ++r) {
            const double v = x[r * static_cast<size_t>(n) + i];
            size += std::fabs(v);
            want = op == Reduce::kSum   ? want + v
                   : op == Reduce::kMax ? std::max(want, v)
                                        : std::min(want, v);
          }
          ASSERT_NEAR(acc[i], want, op == Reduce::kSum ? SumBound(37) * size : 0) << s.name << n;
        }
        EXPECT_EQ(acc.back(), 0.5f);
      }
    }
  }
}

TEST(Kernels, ThinProducts) {
  const std::vector<float> a = Random(17 * 700, 1), b = Random(700 * 600, 2);
  struct Shape {
    int64_t m, n, k;
  };
  std::vector<Shape> shapes = {{1, 600, 500}, {3, 600, 500}, {8, 130, 700}};  // large: streams
  for (int64_t m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 17}) {
    for (int64_t n : {1, 3, 16, 31, 64, 129, 200}) {
      for (int64_t k : {0, 1, 3, 17, 40}) shapes.push_back({m, n, k});
    }
  }
  for (const IsaSet& s : IsaSets()) {
    for (const Shape& q : shapes) {
      std::vector<float> y(static_cast<size_t>(q.m * q.n) + 1, kGuard), z = y;
      s.simd->thin_product(a.data(), q.k, b.data(), q.n, y.data(), q.n, q.m, q.n, q.k);
      s.simd->dot_rows(a.data(), q.k, b.data(), q.k, z.data(), q.n, q.m, q.n, q.k);
      for (int64_t i = 0; i < q.m; ++i) {
        for (int64_t j = 0; j < q.n; ++j) {
          double plain = 0, transposed = 0, size = 0, turned_size = 0;
          for (int64_t k = 0; k < q.k; ++k) {
            const double v = a[static_cast<size_t>(i * q.k + k)];
            plain += v * b[static_cast<size_t>(k * q.n + j)];
            transposed += v * b[static_cast<size_t>(j * q.k + k)];
            size += std::fabs(v * b[static_cast<size_t>(k * q.n + j)]);
            turned_size += std::fabs(v * b[static_cast<size_t>(j * q.k + k)]);
          }
          ASSERT_NEAR(y[static_cast<size_t>(i * q.n + j)], plain, SumBound(q.k) * size)
              << s.name << q.m << q.n;
          ASSERT_NEAR(z[static_cast<size_t>(i * q.n + j)], transposed, SumBound(q.k) * turned_size)
              << s.name << q.m << q.n;
        }
      }
      EXPECT_EQ(y.back(), kGuard);
      EXPECT_EQ(z.back(), kGuard);
    }
  }
}

TEST(Kernels, ShiftedProducts) {
  constexpr int64_t kSlack = 15;  // floats that whole vectors reach behind their rows
  std::mt19937 random(6);
  const std::vector<float> w = Random(25 * 40, 1), x = Random(3000, 2), bias = Random(25, 3);
  for (const IsaSet& s : IsaSets()) {
    for (int64_t m : {1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 24, 25}) {
      for (int64_t n : {1, 4, 5, 15, 16, 17, 33, 48, 49, 63, 96, 100, 130, 200}) {
        for (int64_t taps : {0, 1, 9, 40}) {
          // x ends with its last vector: what is read behind it is not there.
          const int64_t ldy = (n + kSlack) / 16 * 16;
          std::vector<int64_t> at(static_cast<size_t>(taps));
          for (int64_t& a : at) a = std::uniform_int_distribution<int64_t>(0, 500)(random);
          const std::vector<float> part(x.begin(), x.begin() + 500 + n + kSlack);
          std::vector<float> y(static_cast<size_t>(m * ldy) + 1, kGuard);
          s.simd->shifted_product(w.data(), 40, part.data(), at.data(), bias.data(), y.data(), ldy,
                                  m, n, taps);
          for (int64_t i = 0; i < m; ++i) {
            for (int64_t j = 0; j < n; ++j) {
              double want = bias[static_cast<size_t>(i)], size = std::fabs(want);
              for (int64_t k = 0; k < taps; ++k) {
                const double term = double{w[static_cast<size_t>(i * 40 + k)]} *
                                    part[static_cast<size_t>(at[static_cast<size_t>(k)] + j)];
                want += term;
                size += std::fabs(term);
              }
              ASSERT_NEAR(y[static_cast<size_t>(i * ldy + j)], want, SumBound(taps) * size)
                  << s.name << " " << m << " rows, column " << j << " of " << n;
            }
          }
          EXPECT_EQ(y.back(), kGuard);
        }
      }
    }
  }
}

TEST(Kernels, CopiesOfRows) {
  const std::vector<float> x = Random(4000, 4);
  for (const IsaSet& s : IsaSets()) {
    for (int64_t n : {0, 1, 3, 10, 15, 16, 17, 28, 33, 70}) {
      for (int64_t rows : {0, 1, 2, 5, 40}) {
        for (const auto& [gap, gap_y] : {std::pair(0, 0), {0, 3}, {4, 0}, {4, 3}}) {
          const int64_t ldx = n + gap, ldy = n + gap_y;
          const int64_t all = rows == 0 ? 0 : (rows - 1) * ldx + n;
          const std::vector<float> from(x.begin(), x.begin() + all);
          std::vector<float> y(static_cast<size_t>(rows * ldy) + 1, kGuard);
          s.simd->copy_rows(from.data(), ldx, y.data(), ldy, rows, n);
          for (int64_t i = 0; i < rows * ldy; ++i) {
            const int64_t r = i / ldy, j = i % ldy;
            const float want = j < n ? from[static_cast<size_t>(r * ldx + j)] : kGuard;
            ASSERT_EQ(y[static_cast<size_t>(i)], want) << s.name << rows << "x" << n;
          }
          EXPECT_EQ(y.back(), kGuard);
        }
      }
    }
  }
}

// Rows that overlap or repeat, at the end of what may be read.
TEST(Kernels, CopiesOfRowsReadNothingBehindTheLast) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const at =
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(at, MAP_FAILED);
  ASSERT_EQ(mprotect(static_cast<char*>(at) + page, page, PROT_NONE), 0);
  auto* const end = reinterpret_cast<float*>(static_cast<char*>(at) + page);
  for (const IsaSet& s : IsaSets()) {
    for (int64_t n : {1, 3, 7, 15, 17}) {
      for (int64_t ldx : {int64_t{0}, n - 1, n, n + 1}) {
        constexpr int64_t kRows = 40;
        const int64_t all = (kRows - 1) * ldx + n;
        float* const x = end - all;
        for (int64_t i = 0; i < all; ++i) x[i] = static_cast<float>(i);
        std::vector<float> y(static_cast<size_t>(kRows * n) + 1, kGuard);
        s.simd->copy_rows(x, ldx, y.data(), n, kRows, n);
        for (int64_t i = 0; i < kRows * n; ++i) {
          ASSERT_EQ(y[static_cast<size_t>(i)], x[i / n * ldx + i % n]) << s.name << n << " " << ldx;
        }
        EXPECT_EQ(y.back(), kGuard);
      }
    }
  }
  munmap(at, 2 * page);
}

TEST(Kernels, Transpose) {
  const std::vector<float> x = Random(80 * 80, 4);
  for (const IsaSet& s : IsaSets()) {
    for (size_t rows : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 50}) {
      for (size_t cols : {1, 2, 3, 4, 5, 9, 31, 32, 33, 35, 36, 37, 64, 70}) {
        for (size_t pad : {0, 3}) {
          std::vector<float> y((rows + pad) * cols + 1, kGuard);
          s.simd->transpose(x.data(), static_cast<int64_t>(cols + pad), y.data(),
                            static_cast<int64_t>(rows + pad), static_cast<int64_t>(rows),
                            static_cast<int64_t>(cols));
          for (size_t c = 0; c < cols; ++c) {
            for (size_t r = 0; r < rows + pad; ++r) {
              const float want = r < rows ? x[r * (cols + pad) + c] : kGuard;
              ASSERT_EQ(y[c * (rows + pad) + r], want) << s.name << rows << "x" << cols;
            }
          }
          EXPECT_EQ(y.back(), kGuard);
        }
      }
    }
  }
}

TEST(Kernels, ComparisonsAndSelection) {
  const std::vector<float> x = Random(300, 8), z = Random(300, 9);
  for (const IsaSet& s : IsaSets()) {
    for (int64_t n : kLengths) {
      for (int64_t step : {0, 1}) {
        for (int op = 0; op < 5; ++op) {
          std::vector<uint8_t> out(static_cast<size_t>(n) + 1, 9);
          s.simd->compare(static_cast<Compare>(op), x.data(), z.data(), step, out.data(), n);
          std::vector<float> y(out.size(), kGuard);
          s.simd->select(out.data(), x.data(), step, z.data(), 1, y.data(), n);
          for (size_t i = 0; i + 1 < out.size(); ++i) {
            const float p = x[i], q = z[step == 0 ? 0 : i];
            const bool want[] = {p == q, p<q, p <= q, p> q, p >= q};
            ASSERT_EQ(out[i], want[op] ? 1 : 0) << s.name;
            ASSERT_EQ(y[i], want[op] ? x[step == 0 ? 0 : i] : z[i]) << s.name;
          }
          EXPECT_EQ(out.back(), 9);
          EXPECT_EQ(y.back(), kGuard);
        }
      }
    }
  }
}

}  // namespace
}  // namespace ge_engines::cpu
