// Loops over whole tensors against plain nested loops, in each instruction set of this host.
#include "plugins/cpu/kit/loops.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "plugins/cpu/kit/isa_sets_testing.h"
#include "plugins/cpu/kit/loop_trial_testing.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/native/index/gather.h"
#include "plugins/cpu/native/matmul/thin_product.h"
#include "plugins/cpu/native/onnx_ml/normalizer.h"
#include "plugins/cpu/native/reduce/pool.h"
#include "plugins/cpu/native/reduce/reduce.h"
#include "plugins/cpu/native/reduce/row_squares.h"
#include "plugins/cpu/native/resample/resize.h"
#include "plugins/units/onnx_ml/normalizer.h"

namespace ge_engines::cpu::native {
namespace {

class Loops : public ::testing::TestWithParam<IsaSet> {
 protected:
  const Simd& simd() const { return *GetParam().simd; }
};
INSTANTIATE_TEST_SUITE_P(Isa, Loops, ::testing::ValuesIn(IsaSets()), NameOfIsaSet);

// Columns, long rows and one long sum are cut by the threads that there are; no bit hangs on it.
TEST_P(Loops, SumsAreTheSameByAnyNumberOfThreads) {
  const int before = omp_get_max_threads();
  for (const Dims& d :
       std::vector<Dims>{{1000, 768}, {300, 65}, {70, 129}, {3, 20'001}, {40'000}}) {
    std::vector<float> x = Random(Product(d), 3);
    for (float& v : x) v = std::abs(v);
    const Layout from = Layout::Dense(d);
    for (const Dims& axes : std::vector<Dims>{{0}, d.size() == 1 ? Dims{0} : Dims{1}}) {
      Dims kept = d;
      for (const int64_t a : axes) kept[Z(a)] = 1;
      const Layout to = Layout::Dense(kept);
      std::vector<double> want(Z(to.extent()));
      Dims at(d.size(), 0);
      do {
        Dims place = at;
        for (const int64_t a : axes) place[Z(a)] = 0;
        want[Z(Offset(to, place))] += x[Z(Offset(from, at))];
      } while (Next(d, &at));
      std::vector<float> first;
      for (const int threads : {1, 2, 3, 16}) {
        omp_set_num_threads(threads);
        std::vector<float> y(want.size());
        RunLoop(*ReduceLoop(simd(), Reduce::kSum, from, axes, to), {y.data(), x.data()});
        for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], want[i], want[i] * 0x1p-22);
        if (threads == 1) first = y;
        ASSERT_EQ(y, first) << threads << " threads, " << ToText(d);
      }
    }
  }
  omp_set_num_threads(before);
}

TEST_P(Loops, Repeats) {
  for (int64_t f : {1, 2, 3, 5}) {
    const Dims d = {2, 3, 9, 21}, big = {2, 3, 9 * f, 21 * f};
    std::vector<float> x = Random(Product(d), 3), y(Z(Product(big)));
    RunLoop(*RepeatLoop(simd(), Layout::Dense(d), Layout::Dense(big), {1, 1, f, f}),
            {y.data(), x.data()});
    Dims at(4, 0);
    do {
      ASSERT_EQ(y[Z(Offset(Layout::Dense(big), at))],
                x[Z(Offset(Layout::Dense(d), {at[0], at[1], at[2] / f, at[3] / f}))]);
    } while (Next(big, &at));
  }
}

TEST_P(Loops, RepeatsOfChannelsInBlocks) {
  const Dims d = {2, 40, 3, 5}, big = {2, 40, 6, 15};
  for (int block : {8, 16}) {
    const Layout from = Layout::Blocked(d, block), to = Layout::Blocked(big, block);
    std::vector<float> x = Random(from.extent(), 6), y(Z(to.extent()));
    RunLoop(*RepeatLoop(simd(), from, to, {1, 1, 2, 3}), {y.data(), x.data()});
    Dims at(4, 0);
    do {
      ASSERT_EQ(y[Z(Offset(to, at))], x[Z(Offset(from, {at[0], at[1], at[2] / 2, at[3] / 3}))]);
    } while (Next(big, &at));
  }
}

TEST_P(Loops, OperandsWhoseElementsLieApart) {
  const Dims d = {37};
  Layout apart = Layout::Dense(d);
  apart.stride[0] = 2;
  std::vector<float> x = Random(37, 7), z = Random(74, 8), y(37);
  RunLoop(
      *PointwiseLoop(simd(), Layout::Dense(d), Layout::Dense(d), {apart}, {{Fn::kSub, 0, 0, 0}}),
      {y.data(), x.data(), z.data()});
  for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], x[i] - z[2 * i]) << i;
}

// A pooled element by its definition.
float PooledElement(const Pool& p, const std::vector<float>& x, const Dims& at) {
  const size_t nd = p.window.size();
  double sum = 0, top = -INFINITY;
  int64_t inside = 0, padded = 0;
  Dims tap(nd, 0);
  do {
    Dims from = at;
    bool in = true, in_padding = true;
    for (size_t i = 0; i < nd; ++i) {
      const int64_t k = at[i + 2] * p.stride[i] - p.pad_begin[i] + tap[i] * p.dilation[i];
      from[i + 2] = k;
      in = in && k >= 0 && k < p.x[i + 2];
      in_padding = in_padding && k < p.x[i + 2] + p.pad_end[i];
    }
    padded += in_padding ? 1 : 0;
    if (!in) continue;
    const double v = x[Z(Offset(Layout::Dense(p.x), from))];
    ++inside;
    sum += v;
    top = std::max(top, v);
  } while (Next(p.window, &tap));
  if (p.max) return static_cast<float>(top);
  const int64_t count = p.count_pad ? padded : inside;
  return count == 0 ? 0.0f : static_cast<float>(sum / static_cast<double>(count));
}

TEST_P(Loops, Pools) {
  struct Shape {
    Dims spatial, window, stride, dilation, pad;
    int64_t ceil = 0;  // more results along the last axis
  };
  const std::vector<Shape> shapes = {{{20, 41}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
                                     {{20, 41}, {2, 2}, {2, 2}, {1, 1}, {0, 0}, 1},
                                     {{9, 70}, {3, 5}, {1, 1}, {1, 1}, {1, 2}},
                                     {{9, 7}, {7, 7}, {3, 3}, {1, 1}, {3, 3}},
                                     {{30}, {3}, {1}, {2}, {2}},
                                     {{64}, {9}, {4}, {1}, {0}},
                                     {{5, 6, 40}, {3, 3, 3}, {1, 2, 2}, {1, 1, 1}, {1, 0, 1}},
                                     {{20, 20}, {9, 9}, {1, 1}, {1, 1}, {4, 4}},
                                     {{12, 12}, {12, 12}, {1, 1}, {1, 1}, {0, 0}}};
  for (const Shape& s : shapes) {
    for (int kind = 0; kind < 3; ++kind) {
      Pool p;
      p.max = kind == 0;
      p.count_pad = kind == 2;
      p.x = p.result = {2, 3};
      p.window = s.window;
      p.stride = s.stride;
      p.dilation = s.dilation;
      p.pad_begin = p.pad_end = s.pad;
      for (size_t i = 0; i < s.spatial.size(); ++i) {
        p.x.push_back(s.spatial[i]);
        const int64_t span = (s.window[i] - 1) * s.dilation[i] + 1;
        p.result.push_back((s.spatial[i] + 2 * s.pad[i] - span) / s.stride[i] + 1);
      }
      p.result.back() += s.ceil;
      std::vector<float> x = Random(Product(p.x), 4), y(Z(Product(p.result)));
      RunLoop(*PoolLoop(simd(), p), {y.data(), x.data()});
      Dims at(p.result.size(), 0);
      do {
        ASSERT_NEAR(y[Z(Offset(Layout::Dense(p.result), at))], PooledElement(p, x, at), 2e-5)
            << "shape " << &s - shapes.data() << " kind " << kind;
      } while (Next(p.result, &at));
    }
  }
}

// Linear from n to m elements, or nearest; an empty axis where m is 0.
ResizeAxis Axis(int64_t n, int64_t m, bool linear) {
  ResizeAxis a;
  for (int64_t i = 0; i < m; ++i) {
    const double at = std::max(
        0.0,
        (static_cast<double>(i) + 0.5) * static_cast<double>(n) / static_cast<double>(m) - 0.5);
    const auto k =
        std::min(static_cast<int32_t>(linear ? at : at + 0.5), static_cast<int32_t>(n - 1));
    a.from.push_back(k);
    if (!linear) continue;
    a.next.push_back(std::min(k + 1, static_cast<int32_t>(n - 1)));
    a.t.push_back(static_cast<float>(at - k));
  }
  return a;
}

double ResizedElement(const Dims& d, const std::vector<ResizeAxis>& axes,
                      const std::vector<float>& x, const Dims& at, size_t axis, int64_t offset) {
  if (axis == d.size()) return x[Z(offset)];
  const ResizeAxis& a = axes[axis];
  const size_t i = Z(at[axis]);
  auto below = [&](int64_t k) {
    return ResizedElement(d, axes, x, at, axis + 1, offset * d[axis] + k);
  };
  if (a.from.empty()) return below(at[axis]);
  const double p = below(a.from[i]);
  return a.next.empty() ? p : p + a.t[i] * (below(a.next[i]) - p);
}

TEST_P(Loops, Resizes) {
  struct Shape {
    Dims x, to;  // 0: unchanged
  };
  for (const Shape& s :
       {Shape{{2, 3, 10, 12}, {0, 0, 20, 24}}, Shape{{2, 3, 17, 30}, {0, 0, 5, 9}},
        Shape{{1, 9, 10, 33}, {0, 21, 5, 0}}, Shape{{3, 4, 5, 6}, {5, 9, 3, 11}},
        Shape{{2, 5000}, {0, 7001}}, Shape{{5000}, {15000}}, Shape{{4, 6000}, {9, 0}},
        Shape{{3, 7, 2}, {0, 0, 0}}, Shape{{1, 2, 8, 8, 1}, {0, 0, 16, 24, 0}}}) {
    for (bool linear : {false, true}) {
      std::vector<ResizeAxis> axes;
      Dims result = s.x;
      for (size_t i = 0; i < s.x.size(); ++i) {
        axes.push_back(Axis(s.x[i], s.to[i], linear));
        if (s.to[i] > 0) result[i] = s.to[i];
      }
      std::vector<float> x = Random(Product(s.x), 5), y(Z(Product(result)));
      RunLoop(*ResizeLoop(simd(), s.x, axes), {y.data(), x.data()});
      Dims at(s.x.size(), 0);
      do {
        ASSERT_NEAR(y[Z(Offset(Layout::Dense(result), at))], ResizedElement(s.x, axes, x, at, 0, 0),
                    1e-5);
      } while (Next(result, &at));
    }
  }
}

// Of two sources the second has no part in the result where its weight is 0.
TEST_P(Loops, ResizeReadsNothingWithoutWeight) {
  ResizeAxis rows, all;
  rows.from = {0, 1};
  rows.next = {1, 2};
  rows.t = {0.5f, 0};
  std::vector<float> x = {1, 2, 3, 3, 6, 5, INFINITY, NAN, -INFINITY}, y(6);
  RunLoop(*ResizeLoop(simd(), {3, 3}, {rows, all}), {y.data(), x.data()});
  EXPECT_EQ(y, (std::vector<float>{2, 4, 4, 3, 6, 5}));
}

TEST_P(Loops, ResizeRefusesWhatItWouldReadOutside) {
  ResizeAxis a = Axis(4, 8, true);
  a.next[7] = 4;
  EXPECT_THROW(ResizeLoop(simd(), {4}, {a}), std::invalid_argument);
  a.next[7] = 3;
  a.from[0] = -1;
  EXPECT_THROW(ResizeLoop(simd(), {4}, {a}), std::invalid_argument);
  EXPECT_THROW(ResizeLoop(simd(), {4, 4}, {Axis(4, 8, false)}), std::invalid_argument);
  const ResizeAxis two = Axis(2, 4, true);
  EXPECT_THROW(ResizeLoop(simd(), Dims(5, 2), {two, two, two, two, two}), std::invalid_argument);
}

TEST_P(Loops, ThinProductsWithBatchesScaleAndBias) {
  for (int kind = 0; kind < 4; ++kind) {
    ThinProduct t;
    t.batch = 3;
    t.m = 2;
    t.n = 150;
    t.k = 70;
    t.x_batch = t.m * t.k;
    t.w_batch = kind % 2 == 0 ? 0 : t.n * t.k;
    t.w_by_columns = kind >= 2;
    t.alpha = kind == 0 ? 1.0f : 0.5f;
    t.bias = kind != 1;
    std::vector<float> x = Random(3 * 2 * 70, 1), w = Random(3 * 150 * 70, 2), b = Random(150, 3);
    std::vector<float> y(3 * 2 * 150);
    RunLoop(*ThinProductLoop(simd(), t), {y.data(), x.data(), w.data(), b.data()});
    for (int64_t i = 0; i < t.batch * t.m * t.n; ++i) {
      const int64_t batch = i / (t.m * t.n), row = i / t.n, col = i % t.n;
      double sum = 0;
      for (int64_t k = 0; k < t.k; ++k) {
        const int64_t at = t.w_by_columns ? col * t.k + k : k * t.n + col;
        sum += double{x[Z(row * t.k + k)]} * w[Z(batch * t.w_batch + at)];
      }
      ASSERT_NEAR(y[Z(i)], t.alpha * sum + (t.bias ? b[Z(col)] : 0.0f), 1e-3) << kind;
    }
  }
}

template <class Index>
void CheckGather(int64_t inner) {
  Gather g;
  g.outer = 3;
  g.axis = 5;
  g.inner = inner;
  g.count = 4;
  g.wide = sizeof(Index) == 8;
  std::vector<float> x = Random(g.outer * g.axis * inner, 6), y(Z(g.outer * g.count * inner), 7.0f);
  std::vector<Index> index = {4, 0, -1, -5};
  const auto loop = GatherLoop(g);
  RunLoop(*loop, {y.data(), x.data(), reinterpret_cast<float*>(index.data())});
  for (int64_t o = 0; o < g.outer; ++o) {
    for (int64_t i = 0; i < g.count; ++i) {
      const int64_t k = (index[Z(i)] + g.axis) % g.axis;
      for (int64_t j = 0; j < inner; ++j) {
        ASSERT_EQ(y[Z((o * g.count + i) * inner + j)], x[Z((o * g.axis + k) * inner + j)]);
      }
    }
  }
  for (Index bad : {Index{5}, Index{-6}}) {
    index[2] = bad;
    std::vector<float> before = y;
    std::vector<float*> p = {y.data(), x.data(), reinterpret_cast<float*>(index.data())};
    ge_err err = {};
    err.h = GE_HDR(ge_err, GE_TAG_ERR);
    EXPECT_EQ(loop->Do({p.data(), nullptr, nullptr, 3, &err}), GE_INVALID_ARGUMENT);
    const std::string text(err.msg, err.msg_len);
    EXPECT_NE(text.find("index " + std::to_string(bad) + " "), std::string::npos) << text;
    EXPECT_EQ(err.node, 3u);
    EXPECT_EQ(y, before);
  }
}
TEST_P(Loops, Gathers) {
  for (int64_t inner : {1, 2, 3, 40}) {
    CheckGather<int64_t>(inner);
    CheckGather<int32_t>(inner);
  }
}

// Beside what a great element brings each of the others brings less than half the last place; of
// all of them nothing may be lost.
TEST_P(Loops, NormsHoldTheSmallBesideTheGreat) {
  const int64_t n = 20000;
  std::vector<float> x(Z(n), 0.99f), y(Z(n));
  for (const bool lengths : {false, true}) {
    x[3] = lengths ? 0x1p24f : 0x1p12f;
    double wanted = 0;
    for (const float v : x) wanted += static_cast<double>(v) * (lengths ? 1 : v);
    RunLoop(*RowNormLoop(simd(), {lengths ? RowNorm::kL1 : RowNorm::kL2, 1, n}),
            {y.data(), x.data()});
    const double by = lengths ? wanted : std::sqrt(wanted);
    EXPECT_NEAR(y[3], x[3] / by, 2e-6) << lengths;
    if (lengths) continue;
    RunLoop(*RowSquareLoop(simd(), {false, 1, n}), {y.data(), x.data()});
    EXPECT_NEAR(y[0] / wanted, 1, 4e-6);
  }
}

}  // namespace
}  // namespace ge_engines::cpu::native
