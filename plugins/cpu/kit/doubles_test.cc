// Functions and folds of float64 in each instruction set of this host: functions against the C
// library's of more digits, in units of the last place; folds and softmaxes of all short lengths
// against plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "plugins/cpu/kit/isa_sets_testing.h"
#include "plugins/cpu/kit/simd/kernels.h"

namespace ge_engines::cpu {
namespace {

using Wide = long double;

struct Function {
  const char* name;
  Fn fn;
  double from, to;  // range of arguments
  Wide (*exact)(Wide);
  double units;  // the most it may be off, of the last place
};
constexpr Function kFunctions[] = {
    {"exp", Fn::kExp, -708, 709.7, [](Wide x) { return std::exp(x); }, 2},
    {"exp near 0", Fn::kExp, -1e-3, 1e-3, [](Wide x) { return std::exp(x); }, 2},
    {"log", Fn::kLog, 1e-300, 1e3, [](Wide x) { return std::log(x); }, 3},
    {"log near 1", Fn::kLog, 0.9, 1.1, [](Wide x) { return std::log(x); }, 3},
    {"tanh", Fn::kTanh, -20, 20, [](Wide x) { return std::tanh(x); }, 4},
    {"tanh near 0", Fn::kTanh, -1e-3, 1e-3, [](Wide x) { return std::tanh(x); }, 4},
    {"sigmoid", Fn::kSigmoid, -700, 40, [](Wide x) { return 1 / (1 + std::exp(-x)); }, 4},
    {"erf", Fn::kErf, -7, 7, [](Wide x) { return std::erf(x); }, 4},
    {"sin", Fn::kSin, -3, 3, [](Wide x) { return std::sin(x); }, 3},
    {"sin far off", Fn::kSin, -1e6, 1e6, [](Wide x) { return std::sin(x); }, 3},
    {"cos", Fn::kCos, -1e6, 1e6, [](Wide x) { return std::cos(x); }, 3},
    {"elu", Fn::kElu, -50, 5, [](Wide x) { return x < 0 ? std::expm1(x) : x; }, 4},
    {"softplus", Fn::kSoftplus, -700, 50,
     [](Wide x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }, 5},
};

class Doubles : public ::testing::TestWithParam<IsaSet> {};
INSTANTIATE_TEST_SUITE_P(Isa, Doubles, ::testing::ValuesIn(IsaSets()), NameOfIsaSet);

double UnitsOff(double got, Wide want) {
  const auto near = static_cast<double>(want);
  const double unit = std::nextafter(std::fabs(near), HUGE_VAL) - std::fabs(near);
  return static_cast<double>(std::fabs(static_cast<Wide>(got) - want)) / unit;
}

TEST_P(Doubles, FunctionsAreOffByFewUnitsOfTheLastPlace) {
  constexpr int64_t kCount = 20011;  // no multiple of any vector
  std::mt19937_64 random(53);
  for (const Function& f : kFunctions) {
    std::uniform_real_distribution<double> draw(f.from, f.to);
    std::vector<double> x(kCount), y(kCount);
    for (double& v : x) v = draw(random);
    GetParam().simd->unary_double(f.fn, 1, 0, x.data(), y.data(), kCount);
    double most = 0, at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double off = UnitsOff(y[i], f.exact(static_cast<Wide>(x[i])));
      if (off > most) {
        most = off;
        at = x[i];
      }
    }
    EXPECT_LE(most, f.units) << f.name << " of " << at;
  }
}

double Plain(DoubleFold fold, double acc, double v, double shift) {
  switch (fold) {
    case DoubleFold::kAbsSum:
      return acc + std::fabs(v);
    case DoubleFold::kSquareSum:
      return acc + v * v;
    case DoubleFold::kExpSum:
      return acc + std::exp(v - shift);
    case DoubleFold::kProduct:
      return acc * v;
    case DoubleFold::kMax:
      return std::max(acc, v);
    case DoubleFold::kMin:
      return std::min(acc, v);
    default:
      return acc + v;
  }
}

TEST_P(Doubles, FoldsOfAnyLengthAreThoseOfAPlainLoop) {
  std::mt19937_64 random(54);
  std::uniform_real_distribution<double> draw(0.5, 1.5);
  for (int k = 0; k <= static_cast<int>(DoubleFold::kMin); ++k) {
    const auto fold = static_cast<DoubleFold>(k);
    for (int64_t n = 0; n < 70; ++n) {
      std::vector<double> x(static_cast<size_t>(3 * n)), acc(static_cast<size_t>(n), 0.75);
      for (double& v : x) v = draw(random);
      double want = 0.25;
      for (int64_t i = 0; i < n; ++i) want = Plain(fold, want, x[static_cast<size_t>(i)], 1);
      const double got = GetParam().simd->fold_doubles(fold, x.data(), 1, 0.25, n);
      EXPECT_NEAR(got, want, 1e-13 * std::fabs(want)) << k << " of " << n;
      const std::vector<double> shift(static_cast<size_t>(n), 1);
      GetParam().simd->fold_double_rows(fold, x.data(), 3, n, shift.data(), acc.data(), n);
      for (size_t i = 0; i < acc.size(); ++i) {
        double column = 0.75;
        for (size_t r = 0; r < 3; ++r) column = Plain(fold, column, x[r * acc.size() + i], 1);
        EXPECT_NEAR(acc[i], column, 1e-13 * std::fabs(column)) << k << " of " << n;
      }
    }
  }
}

TEST_P(Doubles, SoftmaxesOfRowsAndColumnsAgree) {
  std::mt19937_64 random(55);
  std::uniform_real_distribution<double> draw(-800, 800);
  constexpr int64_t kRows = 5;
  for (int64_t n = 1; n < 40; ++n) {
    const auto all = static_cast<size_t>(kRows * n);
    std::vector<double> x(all), turned(all), rows(all), columns(all);
    for (double& v : x) v = draw(random);
    for (const bool log : {false, true}) {
      for (int64_t r = 0; r < kRows; ++r) {
        GetParam().simd->softmax_double(log, x.data() + r * n, rows.data() + r * n, n);
        for (int64_t i = 0; i < n; ++i) {
          turned[static_cast<size_t>(i * kRows + r)] = x[static_cast<size_t>(r * n + i)];
        }
      }
      GetParam().simd->softmax_double_columns(log, turned.data(), columns.data(), n, kRows, kRows);
      for (int64_t r = 0; r < kRows; ++r) {
        const double* row = x.data() + r * n;
        const double top = *std::max_element(row, row + n);
        Wide sum = 0;
        for (int64_t i = 0; i < n; ++i) sum += std::exp(static_cast<Wide>(row[i] - top));
        for (int64_t i = 0; i < n; ++i) {
          const Wide off = row[i] - top;  // rounded as all do
          const auto want = static_cast<double>(log ? off - std::log(sum) : std::exp(off) / sum);
          // The sum is 1 and more: what is rounded off it shows in a logarithm near 0.
          const double near = 1e-15 * std::fabs(want) + (log ? 0x1p-52 : 1e-300);
          EXPECT_NEAR(rows[static_cast<size_t>(r * n + i)], want, 2 * near);
          EXPECT_NEAR(columns[static_cast<size_t>(i * kRows + r)], want, 2 * near);
        }
      }
    }
  }
}

TEST_P(Doubles, ComparisonsAreThoseOfTheLanguage) {
  const double values[] = {NAN, -1, 0, -0.0, 2, HUGE_VAL};
  for (int64_t n = 0; n < 20; ++n) {
    for (const int64_t step : {0, 1}) {
      std::vector<double> x(static_cast<size_t>(n)), z(static_cast<size_t>(n + 1));
      for (size_t i = 0; i < x.size(); ++i) x[i] = values[i % 6];
      for (size_t i = 0; i < z.size(); ++i) z[i] = values[(i / 6 + i) % 6];
      std::vector<uint8_t> out(static_cast<size_t>(n) + 1, 7);
      const auto check = [&](Compare op, auto holds) {
        GetParam().simd->compare_doubles(op, x.data(), z.data(), step, out.data(), n);
        for (size_t i = 0; i < x.size(); ++i) {
          EXPECT_EQ(out[i], holds(x[i], z[step == 0 ? 0 : i]) ? 1 : 0) << i;
        }
        EXPECT_EQ(out.back(), 7);
      };
      check(Compare::kEqual, [](double a, double b) { return a == b; });
      check(Compare::kLess, [](double a, double b) { return a < b; });
      check(Compare::kLessOrEqual, [](double a, double b) { return a <= b; });
      check(Compare::kGreater, [](double a, double b) { return a > b; });
      check(Compare::kGreaterOrEqual, [](double a, double b) { return a >= b; });
    }
  }
}

}  // namespace
}  // namespace ge_engines::cpu
