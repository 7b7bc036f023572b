// Winograd's convolution against direct sums in double precision, in each instruction set of this
// host: every size of tiles, both layouts, borders, odd channels, post-ops, several threads, images
// and volumes.
#include "plugins/cpu/native/conv/winograd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/isa_sets_testing.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/native/quantized/step.h"
#include "plugins/units/conv/conv.h"

namespace ge_engines::cpu::native {
namespace {

// Of an image, and how a volume is read in depth: an image where it has no taps.
struct Case {
  int64_t images, in, out, height, width, pad;
  int64_t depth = 1, taps = 0, stride = 1, dilation = 1, pad_before = 0, pad_behind = 0;
};
// Channels below, at and beyond one vector of each set; pictures smaller than a tile, of whole
// tiles, and with one pixel more.
constexpr Case kCases[] = {{1, 1, 1, 1, 1, 1},     {2, 3, 5, 4, 7, 0},    {1, 16, 64, 8, 8, 1},
                           {1, 17, 33, 9, 13, 1},  {1, 40, 100, 5, 5, 2}, {3, 8, 8, 6, 3, 1},
                           {1, 64, 128, 13, 25, 1}};
// Depths of one slice, taps that never meet the volume, distances of more than one.
constexpr Case kVolumes[] = {{1, 1, 1, 1, 1, 1, 1, 1},
                             {2, 3, 5, 4, 7, 0, 4, 3, 1, 1, 1, 1},
                             {1, 16, 24, 8, 8, 1, 3, 2, 1, 1},
                             {1, 17, 9, 9, 5, 1, 5, 3, 2, 1, 1, 1},
                             {2, 8, 8, 6, 3, 1, 4, 3, 1, 2, 2, 1},
                             {1, 19, 8, 5, 5, 1, 2, 1, 1, 1, 3, 2},
                             {1, 9, 33, 6, 6, 1, 6, 5, 3, 1, 2, 4}};

class Winograd : public ::testing::TestWithParam<IsaSet> {
 protected:
  Machine machine(int threads) const {
    Machine m;
    m.isa = GetParam().isa;
    m.threads = threads;
    return m;
  }
  const Simd& simd() const { return *GetParam().simd; }
};
INSTANTIATE_TEST_SUITE_P(Isa, Winograd, ::testing::ValuesIn(IsaSets()), NameOfIsaSet);

std::vector<float> Random(int64_t n, std::mt19937* random) {
  std::normal_distribution<float> d;
  std::vector<float> v(static_cast<size_t>(n));
  for (float& x : v) x = d(*random);
  return v;
}

// In slice z of a volume; an image has one.
int64_t At(const Layout& l, int64_t n, int64_t c, int64_t z, int64_t y, int64_t x) {
  const int64_t channel =
      l.cblock > 0 ? c / l.cblock * l.stride[1] + c % l.cblock : c * l.stride[1];
  return n * l.stride[0] + channel + (l.rank > 4 ? z * l.stride[2] : 0) + y * l.stride[l.rank - 2] +
         x * l.stride[l.rank - 1];
}
int64_t At(const Layout& l, int64_t n, int64_t c, int64_t y, int64_t x) {
  return At(l, n, c, 0, y, x);
}
// A plain tensor in another layout; padding is zero.
std::vector<float> Lay(const std::vector<float>& plain, const Layout& l) {
  std::vector<float> out(static_cast<size_t>(l.extent()), 0.0f);
  const int64_t slices = l.rank > 4 ? l.dim[2] : 1, rows = l.dim[l.rank - 2],
                columns = l.dim[l.rank - 1];
  for (size_t i = 0; i < plain.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t plane = at / columns / rows, channel = plane / slices;
    const int64_t to = At(l, channel / l.dim[1], channel % l.dim[1], plane % slices,
                          at / columns % rows, at % columns);
    out[static_cast<size_t>(to)] = plain[i];
  }
  return out;
}

ConvSpec SpecOf(const Case& conv_case) {
  ConvSpec s;
  s.src = {conv_case.images, conv_case.in, conv_case.height, conv_case.width};
  s.weights = {conv_case.out, conv_case.in, 3, 3};
  s.dst = {conv_case.images, conv_case.out, conv_case.height + 2 * conv_case.pad - 2,
           conv_case.width + 2 * conv_case.pad - 2};
  s.stride = s.dilation = {1, 1};
  s.pad_l = s.pad_r = {conv_case.pad, conv_case.pad};
  if (conv_case.taps == 0) return s;
  const int64_t reach = (conv_case.taps - 1) * conv_case.dilation + 1;
  const auto first = [](Dims* dims, size_t at, int64_t v) {
    dims->insert(dims->begin() + static_cast<ptrdiff_t>(at), v);
  };
  first(&s.src, 2, conv_case.depth);
  first(&s.weights, 2, conv_case.taps);
  first(&s.dst, 2,
        (conv_case.depth + conv_case.pad_before + conv_case.pad_behind - reach) / conv_case.stride +
            1);
  first(&s.stride, 0, conv_case.stride);
  first(&s.dilation, 0, conv_case.dilation);
  first(&s.pad_l, 0, conv_case.pad_before);
  first(&s.pad_r, 0, conv_case.pad_behind);
  return s;
}

// Plain, with bias.
std::vector<double> Direct(const Case& c, const ConvSpec& s, const std::vector<float>& x,
                           const std::vector<float>& w, const std::vector<float>& bias) {
  std::vector<double> y;
  const int64_t taps = std::max<int64_t>(c.taps, 1), rows = s.dst[s.dst.size() - 2],
                columns = s.dst.back(), slices = c.taps == 0 ? 1 : s.dst[2];
  for (int64_t n = 0; n < c.images; ++n) {
    for (int64_t o = 0; o < c.out; ++o) {
      for (int64_t p = 0; p < slices * rows * columns; ++p) {
        double sum = double{bias[static_cast<size_t>(o)]};
        for (int64_t k = 0; k < c.in * taps * 9; ++k) {
          const int64_t slice =
              p / columns / rows * c.stride + k / 9 % taps * c.dilation - c.pad_before;
          const int64_t row = p / columns % rows - c.pad + k / 3 % 3;
          const int64_t column = p % columns - c.pad + k % 3;
          if (row < 0 || row >= c.height || column < 0 || column >= c.width) continue;
          if (slice < 0 || slice >= c.depth) continue;
          const int64_t plane = (n * c.in + k / 9 / taps) * c.depth + slice;
          sum += double{w[static_cast<size_t>(o * c.in * taps * 9 + k)]} *
                 double{x[static_cast<size_t>((plane * c.height + row) * c.width + column)]};
        }
        y.push_back(sum);
      }
    }
  }
  return y;
}

struct Data {
  Data(const Case& c, const ConvSpec& s) {
    std::mt19937 random(7);
    x = Random(Product(s.src), &random);
    w = Random(Product(s.weights), &random);
    bias = Random(c.out, &random);
    other = Random(Product(s.dst), &random);
    wanted = Direct(c, s, x, w, bias);
    for (size_t i = 0; i < wanted.size(); ++i) {  // Relu, then a residual
      wanted[i] = std::max(wanted[i], 0.0) + double{other[i]};
    }
  }
  std::vector<float> x, w, bias, other;
  std::vector<double> wanted;
};

// The loop's result in the layout of *ly, with the posts of Data::wanted.
std::vector<float> ResultOf(const WinogradPlan& plan, const Simd& simd, const ConvSpec& s,
                            const Data& d, bool blocked, Layout* layout) {
  const int lanes = static_cast<int>(simd.lanes);
  auto in = [&](const Dims& dims) {
    return blocked ? Layout::Blocked(dims, lanes) : Layout::ChannelsLast(dims);
  };
  const Layout lx = in(s.src), ly = in(s.dst);
  std::vector<float> x = Lay(d.x, lx), other = Lay(d.other, ly);
  std::vector<float> u(plan.weight_floats(), std::numeric_limits<float>::quiet_NaN());
  std::vector<float> bias = d.bias, y(static_cast<size_t>(ly.extent()), 1e9f);
  bias.resize(static_cast<size_t>(plan.groups() * plan.group()), 0.0f);
  std::vector<float> room(plan.workspace_floats() * static_cast<size_t>(plan.threads));
  WinogradWeights(plan, d.w.data(), u.data());
  // What lies behind the last output, too: a tile that looks infinite there is done once more.
  EXPECT_TRUE(std::all_of(u.begin(), u.end(), [](float f) { return std::isfinite(f); }));
  float* places[] = {y.data(),    x.data(),    u.data(),
                     bias.data(), room.data(), const_cast<float*>(d.w.data()),
                     other.data()};
  WinogradLoop(simd, plan, lx, ly, {{Fn::kRelu, 0, 0, false}, {Fn::kAdd, 0, 0, true}})->Run(places);
  *layout = ly;
  return y;
}

void Check(const WinogradPlan& plan, const Simd& simd, const ConvSpec& s, const Data& d,
           bool blocked) {
  Layout ly;
  const std::vector<float> y = ResultOf(plan, simd, s, d, blocked, &ly);
  std::vector<float> plain(d.wanted.begin(), d.wanted.end());
  const std::vector<float> wanted = Lay(plain, ly);  // with zeros in the padding
  const float most = std::abs(*std::max_element(
      wanted.begin(), wanted.end(), [](float a, float b) { return std::abs(a) < std::abs(b); }));
  for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], wanted[i], 4e-6f * most) << "at " << i;
}

std::vector<Case> AllCases() {
  std::vector<Case> all(std::begin(kCases), std::end(kCases));
  all.insert(all.end(), std::begin(kVolumes), std::end(kVolumes));
  return all;
}

TEST_P(Winograd, IsTheConvolution) {
  for (const Case& c : AllCases()) {
    const ConvSpec s = SpecOf(c);
    ASSERT_EQ(IsWinograd(s, machine(1)), s.src[1] * s.dst[1] > 6 * simd().lanes);
    const Data data(c, s);
    for (const auto& [h, w] : {std::pair(4, 4), {2, 4}, {4, 2}, {2, 2}}) {
      for (int threads : {1, 3}) {
        for (bool blocked : {false, true}) {
          SCOPED_TRACE(ToText(s.src) + " to " + ToText(s.dst) + ", tiles " + ToText({h, w}) + ", " +
                       std::to_string(threads) + " threads, blocked " + std::to_string(blocked));
          Check(WinogradPlan(s, machine(threads), h, w), simd(), s, data, blocked);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// Every result that is infinite or NaN by definition, and no other; `most` bounds what sums of
// products may differ by.
void CheckField(const std::vector<float>& found, const std::vector<float>& wanted, float most) {
  constexpr float kNearGreatest = 3.3e38f;  // its rounding may go either way
  for (size_t i = 0; i < found.size(); ++i) {
    const float f = found[i], w = wanted[i];
    if (std::isnan(w) || std::isnan(f)) {
      ASSERT_TRUE(std::isnan(w) && std::isnan(f)) << "at " << i << ": " << f << ", wanted " << w;
    } else if (std::isinf(w) || std::isinf(f)) {
      ASSERT_TRUE(std::signbit(f) == std::signbit(w) && std::fabs(f) >= kNearGreatest &&
                  std::fabs(w) >= kNearGreatest)
          << "at " << i << ": " << f << ", wanted " << w;
    } else {
      ASSERT_NEAR(f, w, 4e-6f * most) << "at " << i;
    }
  }
}

// Pixels that are infinite or NaN, or so large that transforms of them overflow.
TEST_P(Winograd, WhatIsNotFiniteStaysInItsField) {
  for (const Case& c : AllCases()) {
    const ConvSpec s = SpecOf(c);
    for (bool large : {false, true}) {
      Data data(c, s);
      const size_t n = data.x.size();
      if (large) {
        for (float& x : data.x) x *= 3e37f;
      } else {
        data.x[n / 2] = std::numeric_limits<float>::infinity();
        data.x[n - 1] = -std::numeric_limits<float>::infinity();
        data.x[n / 3] = std::numeric_limits<float>::quiet_NaN();
      }
      data.wanted = Direct(c, s, data.x, data.w, data.bias);
      for (size_t i = 0; i < data.wanted.size(); ++i) {
        double& v = data.wanted[i];
        v = (v < 0 ? 0 : v) + double{data.other[i]};
      }
      const std::vector<float> plain(data.wanted.begin(), data.wanted.end());
      float most = 0;
      for (float v : plain) {
        if (std::isfinite(v)) most = std::max(most, std::fabs(v));
      }
      for (const auto& [h, w] : {std::pair(4, 4), {2, 4}, {4, 2}, {2, 2}}) {
        for (bool blocked : {false, true}) {
          SCOPED_TRACE(ToText(s.src) + " to " + ToText(s.dst) + ", tiles " + ToText({h, w}) +
                       ", blocked " + std::to_string(blocked) + ", large " + std::to_string(large));
          Layout ly;
          const std::vector<float> y =
              ResultOf(WinogradPlan(s, machine(1), h, w), simd(), s, data, blocked, &ly);
          CheckField(y, Lay(plain, ly), most);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// One number a pixel becomes the greatest of its tile of h x w pixels; one image.
std::vector<double> GreatestOfTiles(const std::vector<double>& v, const ConvSpec& s, int h, int w) {
  const int64_t rows = s.dst[2], columns = s.dst[3];
  std::vector<double> out(v.size(), 0.0);
  for (size_t i = 0; i < v.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t y = at / columns % rows, x = at % columns, plane = at / columns / rows;
    for (int64_t a = y / h * h; a < std::min<int64_t>(rows, y / h * h + h); ++a) {
      for (int64_t b = x / w * w; b < std::min<int64_t>(columns, x / w * w + w); ++b) {
        out[i] = std::max(out[i], v[static_cast<size_t>((plane * rows + a) * columns + b)]);
      }
    }
  }
  return out;
}

// What docs/numerics.md states: the greatest error of a pixel, relative to the sum of the
// magnitudes of its own products, on pixels of one size; where padding takes most of these, to its
// tile's greatest sum. Few channels average less.
TEST_P(Winograd, ErrorIsAsDocumented) {
  struct Bound {
    int h, w;
    double most;
  };
  for (const Case& c :
       {Case{1, 64, 32, 14, 14, 1}, {1, 256, 16, 10, 10, 1}, {1, 3, 56, 12, 14, 2}}) {
    const ConvSpec s = SpecOf(c);
    Data d(c, s), magnitudes = d;
    for (float& x : magnitudes.x) x = std::fabs(x);
    for (float& w : magnitudes.w) w = std::fabs(w);
    std::fill(d.bias.begin(), d.bias.end(), 0.0f);
    d.wanted = Direct(c, s, d.x, d.w, d.bias);
    magnitudes.wanted = Direct(c, s, magnitudes.x, magnitudes.w, d.bias);
    for (const auto& [h, w, most] :
         {Bound{4, 4, 1.2e-6}, {4, 2, 5e-7}, {2, 4, 5e-7}, {2, 2, 2e-7}}) {
      const WinogradPlan plan(s, machine(1), h, w);
      const Layout lx = Layout::ChannelsLast(s.src), ly = Layout::ChannelsLast(s.dst);
      std::vector<float> x = Lay(d.x, lx), y(static_cast<size_t>(ly.extent()));
      std::vector<float> u(plan.weight_floats()), room(plan.workspace_floats());
      std::vector<float> bias(static_cast<size_t>(plan.groups() * plan.group()), 0.0f);
      WinogradWeights(plan, d.w.data(), u.data());
      float* places[] = {y.data(), x.data(), u.data(), bias.data(), room.data(), d.w.data()};
      WinogradLoop(simd(), plan, lx, ly, {})->Run(places);
      const std::vector<double> sums =
          c.pad > 1 ? GreatestOfTiles(magnitudes.wanted, s, h, w) : magnitudes.wanted;
      double worst = 0;
      size_t i = 0;
      for (int64_t o = 0; o < s.dst[1]; ++o) {
        for (int64_t p = 0; p < s.dst[2] * s.dst[3]; ++p, ++i) {
          const double found =
              double{y[static_cast<size_t>(At(ly, 0, o, p / s.dst[3], p % s.dst[3]))]};
          worst = std::max(worst, std::abs(found - d.wanted[i]) / sums[i]);
        }
      }
      EXPECT_LE(worst, c.in < 64 ? 2 * most : most)
          << ToText({h, w}) << " with " << c.in << " channels";
    }
  }
}

TEST(WinogradSpec, WeightsThatOverflowAreNone) {
  std::vector<float> w(9, 1.0f);
  EXPECT_TRUE(WinogradKeepsFinite(w.data(), 9));
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float past = std::nextafter(1e38f, inf);
  for (float good : {0.0f, -0.0f, 1e38f, -1e38f, std::numeric_limits<float>::denorm_min()}) {
    w[5] = good;
    EXPECT_TRUE(WinogradKeepsFinite(w.data(), 9)) << good;
  }
  for (float bad : {inf, -inf, nan, -nan, 3e38f, -3e38f, past, -past}) {
    for (size_t at : {size_t{0}, size_t{8}}) {
      std::vector<float> v = w;
      v[at] = bad;
      EXPECT_FALSE(WinogradKeepsFinite(v.data(), 9)) << bad << " at " << at;
    }
  }
}

TEST(WinogradSpec, ExactNumericsLeaveItOut) {
  Machine m;
  EXPECT_TRUE(IsWinograd(SpecOf(kCases[2]), m));
  m.exact = true;
  EXPECT_FALSE(IsWinograd(SpecOf(kCases[2]), m));
}

TEST(WinogradSpec, ChoosesTilesByTheWork) {
  Machine m;
  m.isa = GE_ISA_AVX512;
  auto tiles = [&](const Case& c) {
    const WinogradPlan p = WinogradPlan::Best(SpecOf(c), m);
    return std::pair(p.h, p.w);
  };
  EXPECT_EQ(tiles({1, 64, 64, 56, 56, 1}), std::pair(4, 4));
  EXPECT_EQ(tiles({1, 512, 512, 7, 7, 1}), std::pair(2, 2)) << "weights come from memory";
  EXPECT_EQ(tiles({1, 64, 64, 2, 400, 1}), std::pair(2, 4)) << "two lines";
  EXPECT_EQ(tiles({1, 64, 64, 12, 12, 1}), std::pair(2, 4)) << "as much work turned, shorter rows";
}

TEST(WinogradSpec, OthersAreLeftAlone) {
  const Case c = {1, 16, 16, 8, 8, 1};
  const ConvSpec plain = SpecOf(c);
  ASSERT_TRUE(IsWinograd(plain, Machine()));
  for (int k = 0; k < 6; ++k) {
    ConvSpec s = plain;
    if (k == 0) s.stride = {1, 2};
    if (k == 1) s.dilation = {2, 1};
    if (k == 2) s.weights = {16, 16, 3, 5};
    if (k == 3) s.groups = 2;
    if (k == 4) s.transposed = true;
    if (k == 5) s = SpecOf({1, 3, 8, 8, 8, 1});  // few channels
    EXPECT_FALSE(IsWinograd(s, Machine())) << k;
  }
  const ConvSpec volume = SpecOf({1, 16, 16, 8, 8, 1, 4, 3, 2, 2, 1, 1});
  EXPECT_TRUE(IsWinograd(volume, Machine())) << "any taps in depth";
  ConvSpec deep = volume;
  deep.src[1] = deep.weights[1] = deep.dst[1] = deep.weights[0] = 512;
  deep.weights[2] = 2;
  EXPECT_FALSE(IsWinograd(deep, Machine())) << "weights that would take much memory";
  for (size_t k : {1, 2}) {
    ConvSpec s = volume;
    s.stride[k] = 2;
    EXPECT_FALSE(IsWinograd(s, Machine())) << k;
  }
}

}  // namespace
}  // namespace ge_engines::cpu::native
