// Loops of gradients against plain nested loops, in each instruction set of this host and each
// layout of images.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "plugins/cpu/kit/isa_sets_testing.h"
#include "plugins/cpu/kit/loop_trial_testing.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/native/reduce/reduce.h"
#include "plugins/cpu/native/training/batch_normalization_grad.h"
#include "plugins/cpu/native/training/channel_moments.h"
#include "plugins/cpu/native/training/channel_rows.h"
#include "plugins/cpu/native/training/max_pool_grad.h"
#include "plugins/cpu/native/training/optimizer_step.h"
#include "plugins/units/training/max_pool_grad.h"
#include "plugins/units/training/optimizer_step.h"

namespace ge_engines::cpu::native {
namespace {

class Gradients : public ::testing::TestWithParam<IsaSet> {
 protected:
  const Simd& simd() const { return *GetParam().simd; }
};
INSTANTIATE_TEST_SUITE_P(Isa, Gradients, ::testing::ValuesIn(IsaSets()), NameOfIsaSet);

// One picture of more than kSumRows pixels, channels that fill no block, and one pixel alone.
const std::vector<Dims> kShapes = {{2, 3, 5, 7}, {1, 21, 30, 23}, {3, 16, 1, 1}, {2, 40, 2, 3}};
std::vector<Layout> LayoutsOf(const Dims& d) {
  return {Layout::Dense(d), Layout::ChannelsLast(d), Layout::Blocked(d, 8), Layout::Blocked(d, 16)};
}

// Of each channel: the sum over all pixels of f(where the pixel lies).
template <class F>
std::vector<double> Sums(const Layout& l, F f) {
  std::vector<double> sums(Z(l.dim[1]));
  Dims at(Z(l.rank), 0);
  do {
    sums[Z(at[1])] += f(Z(Offset(l, at)), Z(at[1]));
  } while (Next(l.dims(), &at));
  return sums;
}

// A mean that a small number is made of by subtraction: what it errs by is all of that.
TEST_P(Gradients, SumsErrByLittleMoreThanTheirRounding) {
  for (const Dims& d : std::vector<Dims>{{2, 8, 12, 12}, {3, 5, 3, 5}, {2, 12, 61, 67}}) {
    for (const Layout& l : LayoutsOf(d)) {
      std::vector<float> x = Random(l.extent(), 3);
      for (float& v : x) v = std::abs(v);
      const double n = static_cast<double>(d[2] * d[3]);
      const double roundings = n <= 128 || l.dense() ? 0.505 : 1;  // in pieces: some more
      Dims kept = d;
      kept[2] = kept[3] = 1;
      for (const Reduce op : {Reduce::kSum, Reduce::kMean}) {
        const Layout to = Layout::Like(kept, l);
        std::vector<float> y(Z(to.extent()));
        RunLoop(*ReduceLoop(simd(), op, l, {2, 3}, to), {y.data(), x.data()});
        Dims at(4, 0);
        do {
          double sum = 0;
          Dims from = at;
          for (from[2] = 0; from[2] < d[2]; ++from[2]) {
            for (from[3] = 0; from[3] < d[3]; ++from[3]) sum += x[Z(Offset(l, from))];
          }
          const double want = op == Reduce::kMean ? sum / n : sum;
          ASSERT_NEAR(y[Z(Offset(to, at))], want, want * roundings * 0x1p-23) << d[2];
        } while (Next(kept, &at));
      }
    }
  }
}

TEST_P(Gradients, MomentsOfEachChannel) {
  for (const Dims& d : kShapes) {
    for (const Layout& l : LayoutsOf(d)) {
      const double n = static_cast<double>(Product(d) / d[1]);
      std::vector<float> x = Random(l.extent(), 3), mean(Z(d[1])), variance(Z(d[1]));
      for (float& v : x) v += 1000;  // squares would lose all digits
      RunLoop(*MomentsLoop(simd(), l), {mean.data(), variance.data(), x.data()});
      const auto of = [&](size_t i, size_t) { return static_cast<double>(x[i]); };
      const std::vector<double> sum = Sums(l, of);
      const std::vector<double> square = Sums(l, [&](size_t i, size_t c) {
        return std::pow(static_cast<double>(x[i]) - sum[c] / n, 2);
      });
      for (size_t c = 0; c < mean.size(); ++c) {
        ASSERT_NEAR(mean[c], sum[c] / n, 1e-3) << d[1] << " " << l.cblock;
        ASSERT_NEAR(variance[c], square[c] / n, 1e-4 * (1 + square[c] / n)) << d[1];
      }
    }
  }
}

TEST_P(Gradients, BatchNormalization) {
  for (const Dims& d : kShapes) {
    for (const Layout& l : LayoutsOf(d)) {
      const double n = static_cast<double>(Product(d) / d[1]);
      const std::vector<float> mean = Random(d[1], 5), scale = Random(d[1], 7);
      std::vector<float> x = Random(l.extent(), 3), dy = Random(l.extent(), 4);
      std::vector<float> variance = Random(d[1], 6), dx(x.size()), dscale(scale.size()),
                         db(scale.size());
      for (float& v : variance) v = v * v + 0.5f;
      auto m = mean, s = scale;
      RunLoop(*BatchNormGradLoop(simd(), l, 0.125f),
              {dx.data(), dscale.data(), db.data(), dy.data(), x.data(), s.data(), m.data(),
               variance.data()});
      const auto deviation = [&](size_t c) { return std::sqrt(variance[c] + 0.125); };
      const auto u = [&](size_t i, size_t c) {
        return (static_cast<double>(x[i]) - static_cast<double>(mean[c])) / deviation(c);
      };
      const std::vector<double> sum = Sums(l, [&](size_t i, size_t) { return double{dy[i]}; });
      const std::vector<double> product =
          Sums(l, [&](size_t i, size_t c) { return double{dy[i]} * u(i, c); });
      for (size_t c = 0; c < scale.size(); ++c) {
        ASSERT_NEAR(db[c], sum[c], 1e-3);
        ASSERT_NEAR(dscale[c], product[c], 1e-3);
      }
      Dims at(4, 0);
      do {
        const size_t i = Z(Offset(l, at)), c = Z(at[1]);
        const double rest = double{dy[i]} - sum[c] / n - u(i, c) * product[c] / n;
        ASSERT_NEAR(dx[i], rest * double{scale[c]} / deviation(c), 1e-4) << d[1] << l.cblock;
      } while (Next(d, &at));
    }
  }
}

// What is computed again in another layout gives the same bits.
TEST_P(Gradients, SumsOfImagesDoNotDependOnTheirLayout) {
  for (const Dims& d :
       {Dims{2, 19, 30, 23}, Dims{3, 5, 5, 7}, Dims{1, 16, 1, 2}, Dims{2, 33, 9, 9}}) {
    const Layout plain = Layout::Dense(d);
    const std::vector<float> x = Random(plain.extent(), 3), dy = Random(plain.extent(), 4);
    std::vector<std::vector<float>> first;
    for (const Layout& l : LayoutsOf(d)) {
      std::vector<float> in(Z(l.extent())), gradient(in.size()), dx(in.size());
      Dims at(4, 0);
      do {
        in[Z(Offset(l, at))] = x[Z(Offset(plain, at))];
        gradient[Z(Offset(l, at))] = dy[Z(Offset(plain, at))];
      } while (Next(d, &at));
      std::vector<std::vector<float>> made(5, std::vector<float>(Z(d[1])));
      RunLoop(*MomentsLoop(simd(), l), {made[0].data(), made[1].data(), in.data()});
      made[4] = Random(d[1], 7);
      RunLoop(*BatchNormGradLoop(simd(), l, 0.125f),
              {dx.data(), made[2].data(), made[3].data(), gradient.data(), in.data(),
               made[4].data(), made[0].data(), made[1].data()});
      made.emplace_back(x.size());
      std::fill(at.begin(), at.end(), 0);
      do {
        made[5][Z(Offset(plain, at))] = dx[Z(Offset(l, at))];
      } while (Next(d, &at));
      if (first.empty()) first = made;
      ASSERT_EQ(made, first) << d[1] << " " << l.cblock;
    }
  }
}

// The first greatest of each window, tap by tap.
std::vector<float> PoolGradOf(const PoolGradSpec& s, const std::vector<float>& dy,
                              const std::vector<float>& x) {
  std::vector<float> dx(x.size());
  const Layout in = Layout::Dense(s.x);
  Dims window(4, 0);
  size_t i = 0;
  do {
    int64_t best = -1;
    for (int64_t t = 0; t < Product(s.kernel); ++t) {
      const int64_t h = window[2] * s.stride[0] - s.pad_l[0] + t / s.kernel[1] * s.dilation[0];
      const int64_t w = window[3] * s.stride[1] - s.pad_l[1] + t % s.kernel[1] * s.dilation[1];
      if (h < 0 || w < 0 || h >= s.x[2] || w >= s.x[3]) continue;
      const int64_t at = Offset(in, {window[0], window[1], h, w});
      const bool first_nan = best >= 0 && std::isnan(x[Z(at)]) && !std::isnan(x[Z(best)]);
      if (best < 0 || x[Z(at)] > x[Z(best)] || first_nan) best = at;
    }
    if (best >= 0) dx[Z(best)] += dy[i];
    ++i;
  } while (Next(s.dy, &window));
  return dx;
}

TEST_P(Gradients, Pools) {
  const std::vector<PoolGradSpec> specs = {
      {{2, 3, 8, 70}, {2, 3, 4, 35}, {2, 2}, {2, 2}, {1, 1}, {0, 0}},    // pairs
      {{1, 2, 5, 35}, {1, 2, 2, 17}, {2, 2}, {2, 2}, {1, 1}, {0, 0}},    // and what is left over
      {{1, 2, 9, 11}, {1, 2, 5, 6}, {3, 3}, {2, 2}, {1, 1}, {1, 1}},     // windows that meet
      {{1, 1, 3, 600}, {1, 1, 3, 600}, {1, 3}, {1, 1}, {1, 1}, {0, 1}},  // more than go together
      {{1, 1, 1, 1}, {1, 1, 1, 1}, {2, 2}, {1, 1}, {2, 2}, {1, 1}},      // taps that all miss
  };
  for (const PoolGradSpec& s : specs) {
    std::vector<float> x = Random(Product(s.x), 3), dy = Random(Product(s.dy), 4), dx(x.size(), 9);
    for (size_t i = 0; i < x.size(); i += 2) x[i] = 0.25f;  // ties
    if (x.size() > 40) {
      x[4] = x[5] = std::numeric_limits<float>::quiet_NaN();
      for (size_t i = 20; i < 40; ++i) x[i] = -std::numeric_limits<float>::infinity();
    }
    RunLoop(*PoolGradLoop(simd(), s), {dx.data(), dy.data(), x.data()});
    const std::vector<float> want = PoolGradOf(s, dy, x);
    for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(dx[i], want[i], 1e-6) << s.x[3] << " " << i;
  }
}

using Rows = std::vector<std::vector<float>>;

double NormOf(const std::vector<double>& v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return std::sqrt(sum);
}

// A step by its definition, in double: weight, slots, gradient to weight, slots; before the norms
// of the whole rows count.
std::vector<double> ElementStep(const StepSpec& s, const std::vector<double>& at, double rate,
                                double first, double second) {
  const double weight = at[0], gradient = at[1 + s.slots()], decay = s.decay * weight;
  const bool beside = s.apart || s.rule == StepRule::kLamb || s.rule == StepRule::kLion;
  const double g = gradient + (beside ? 0 : decay), kept = weight - (s.apart ? rate * decay : 0);
  const double average = s.beta1 * at[1] + (1 - s.beta1) * g;
  if (s.adam()) {
    const double square = s.beta2 * at[2] + (1 - s.beta2) * g * g;
    const double step = (average / first) / (std::sqrt(square) / second + s.eps);
    const double more = s.rule == StepRule::kLamb ? decay : 0;
    return {kept - rate * (step + more), average, square};
  }
  if (s.rule == StepRule::kLion) {
    const double sign = average > 0 ? 1 : average < 0 ? -1 : 0;
    return {weight - rate * (decay + sign), s.beta2 * at[1] + (1 - s.beta2) * g};
  }
  if (s.rule == StepRule::kRmsProp || s.rule == StepRule::kAdagrad) {
    const bool all = s.rule == StepRule::kAdagrad;
    const double square = all ? at[1] + g * g : s.beta2 * at[1] + (1 - s.beta2) * g * g;
    return {weight - rate * g / (std::sqrt(square) + s.eps), square};
  }
  const double v = s.beta1 * at[1] + g;
  return {weight - rate * (s.ahead ? g + s.beta1 * v : v), v};
}

std::vector<std::vector<double>> StepOf(const StepSpec& s, const Rows& before, double rate,
                                        double first, double second) {
  std::vector<double> weights, gradients, steps;
  const auto at = [&](size_t i) {
    std::vector<double> v;
    for (const auto& b : before) v.push_back(static_cast<double>(b[i]));
    return v;
  };
  for (size_t i = 0; i < before[0].size(); ++i) {
    weights.push_back(at(i)[0]);
    gradients.push_back(at(i).back());
    steps.push_back(at(i)[0] - ElementStep(s, at(i), 1, first, second)[0]);
  }
  const double length = NormOf(weights), slope = NormOf(gradients), step = NormOf(steps);
  double gain = 1;
  if (s.rule == StepRule::kLamb && length > 0 && step > 0) rate *= length / step;
  if (s.rule == StepRule::kLars && length > 0) {
    gain = s.trust * length / (slope + s.decay * length + s.eps);
  }
  std::vector<std::vector<double>> made;
  for (size_t i = 0; i < before[0].size(); ++i) {
    std::vector<double> v = at(i);
    // With a gain the gradient and the weight's decay count so much more.
    if (s.rule == StepRule::kLars) v[2] = gain * (v[2] + s.decay * v[0]) - s.decay * v[0];
    made.push_back(ElementStep(s, v, rate, first, second));
  }
  return made;
}

TEST_P(Gradients, StepsOfOptimizersWhereTheStatesLie) {
  using R = StepRule;
  const std::vector<StepSpec> specs = {{R::kAdam, false, false, false, 0.9, 0.999, 1e-8, 0},
                                       {R::kAdam, true, false, true, 0.9, 0.99, 1e-3, 0.1},
                                       {R::kAdam, false, false, true, 0.5, 0.9, 1e-8, 0.1},
                                       {R::kMomentum, false, false, false, 0.9, 0, 0, 0},
                                       {R::kMomentum, false, true, true, 0.8, 0, 0, 0.1},
                                       {R::kRmsProp, false, false, true, 0, 0.9, 1e-3, 0.1},
                                       {R::kRmsProp, false, false, false, 0, 0.99, 1e-8, 0},
                                       {R::kAdagrad, false, false, true, 0, 0, 1e-3, 0.1},
                                       {R::kLion, false, false, true, 0.9, 0.99, 0, 0.1},
                                       {R::kLion, false, false, false, 0.5, 0.5, 0, 0},
                                       {R::kLars, false, false, true, 0.9, 0, 1e-8, 0.1, 0.5},
                                       {R::kLars, false, true, false, 0.8, 0, 1e-3, 0, 0.01},
                                       {R::kLamb, false, false, true, 0.9, 0.99, 1e-6, 0.1},
                                       {R::kLamb, false, false, false, 0.5, 0.9, 1e-3, 0}};
  for (const StepSpec& s : specs) {
    for (const int64_t n : {1, 7, 40, 50000}) {
      const size_t made = 1 + s.slots();
      const bool square = s.rule == R::kRmsProp || s.rule == R::kAdagrad;
      Rows t;
      for (size_t k = 0; k <= made; ++k) t.push_back(Random(n, static_cast<int>(k) + 3));
      if (s.adam() || square) {
        for (float& v : t[s.slots()]) v = std::abs(v);
      }
      const Rows before = t;
      float rate = 0.125f, first = 0.5f, second = 0.25f;
      for (const bool go : {false, true}) {
        uint8_t flag = go;
        std::vector<float*> places;
        for (size_t k = 0; k < made; ++k) places.push_back(t[k].data());
        for (size_t k = 0; k <= made; ++k) places.push_back(t[k].data());
        places.push_back(&rate);
        if (s.adam()) places.insert(places.end(), {&first, &second});
        if (s.when) places.push_back(reinterpret_cast<float*>(&flag));
        if (!s.when && !go) continue;
        StepLoop(simd(), s, n)->Run(places.data());
        const auto wanted = StepOf(s, before, rate, first, second);
        for (size_t i = 0; i < Z(n); ++i) {
          const auto want = [&](size_t k) {
            return go ? wanted[i][k] : static_cast<double>(before[k][i]);
          };
          for (size_t k = 0; k < made; ++k) {
            ASSERT_NEAR(t[k][i], want(k), 4e-6 * (1 + std::abs(want(k))))
                << static_cast<int>(s.rule) << k << " " << n;
          }
        }
      }
    }
  }
}

// A step that is a gradient alone: beside the square of a great one each of the others' is less
// than half the last place. All of them together are no rounding error.
TEST_P(Gradients, ANormHoldsTheSmallBesideTheGreat) {
  const size_t n = 20000, great = 3;
  const StepSpec s = {StepRule::kLamb, false, false, false, 0, 1, 0, 0};
  Rows t = {Random(n, 3), std::vector<float>(n, 0.0f), std::vector<float>(n, 1.0f),
            std::vector<float>(n, 0.99f)};
  t[3][great] = 4096;
  float one = 1;
  const auto wanted = StepOf(s, t, 1, 1, 1);
  float* const places[] = {t[0].data(), t[1].data(), t[2].data(), t[0].data(), t[1].data(),
                           t[2].data(), t[3].data(), &one,        &one,        &one};
  StepLoop(simd(), s, n)->Run(places);
  EXPECT_NEAR(t[0][great], wanted[great][0], 2.5e-6 * std::abs(wanted[great][0]));
}

}  // namespace
}  // namespace ge_engines::cpu::native
