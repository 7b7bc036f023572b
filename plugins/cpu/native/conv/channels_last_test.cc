// Convolutions and pools of images with neighbouring channels against sums in double precision, in
// each instruction set of this host: borders, strides, dilations, tails of channels and pixels,
// threads, post-ops with and without operands, blocks that are not full.
#include "plugins/cpu/native/conv/channels_last.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/im2col_tiles.h"
#include "plugins/cpu/kit/isa_sets_testing.h"
#include "plugins/cpu/kit/simd/kernels.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/conv/channel_groups.h"
#include "plugins/cpu/native/conv/channel_sums.h"
#include "plugins/cpu/native/conv/direct.h"
#include "plugins/cpu/native/conv/direct_sums_testing.h"
#include "plugins/cpu/native/reduce/channel_pool.h"
#include "plugins/cpu/native/tile_post_ops.h"
#include "plugins/units/conv/conv.h"

namespace ge_engines::cpu::native {
namespace {

constexpr float kGuard = 99.0f;

int64_t Offset(const Layout& layout, const Dims& at) {
  int64_t o = 0;
  for (int i = 0; i < layout.rank; ++i) {
    const int64_t k = at[static_cast<size_t>(i)];
    o += layout.cblock > 0 && i == 1 ? k / layout.cblock * layout.stride[1] + k % layout.cblock
                                     : k * layout.stride[i];
  }
  return o;
}
// The elements of a dense tensor in another layout; what is between them is 0.
std::vector<float> Laid(const std::vector<float>& x, const Layout& l) {
  std::vector<float> y(static_cast<size_t>(l.extent()), 0.0f);
  const Dims d = l.dims();
  for (int64_t i = 0; i < Product(d); ++i) {
    Dims at(d.size());
    for (size_t k = d.size(), rest = static_cast<size_t>(i); k-- > 0;) {
      at[k] = static_cast<int64_t>(rest) % d[k];
      rest /= static_cast<size_t>(d[k]);
    }
    y[static_cast<size_t>(Offset(l, at))] = x[static_cast<size_t>(i)];
  }
  return y;
}

class ChannelsLast : public ::testing::TestWithParam<IsaSet> {
 protected:
  const Simd& simd() const { return *GetParam().simd; }
  Machine machine(int threads) const {
    Machine m;
    m.isa = GetParam().isa;
    m.threads = threads;
    return m;
  }
  // What a convolution gives behind its bias, and with `posts` behind a multiplication by z and a
  // slope: dense.
  std::vector<double> Want(const ConvCase& c, const ConvSpec& s, const std::vector<float>& x,
                           const std::vector<float>& w, const std::vector<float>& bias,
                           const std::vector<float>* z) const {
    std::vector<double> want;
    for (int64_t i = 0; i < Product(s.dst); ++i) {
      const auto o = static_cast<size_t>(i / (s.dst[2] * s.dst[3]) % s.dst[1]);
      double v = double{bias[o]} + DirectSum(c, s, x, w, i);
      if (z != nullptr) {
        v *= double{(*z)[static_cast<size_t>(i)]};
        v = v < 0 ? v / 2 : v;
      }
      want.push_back(v);
    }
    return want;
  }
  void Expect(const std::vector<double>& want, const std::vector<float>& y, const Layout& l,
              const char* what) const {
    const Dims d = l.dims();
    for (int64_t i = 0; i < Product(d); ++i) {
      Dims at(d.size());
      for (size_t k = d.size(), rest = static_cast<size_t>(i); k-- > 0;) {
        at[k] = static_cast<int64_t>(rest) % d[k];
        rest /= static_cast<size_t>(d[k]);
      }
      const float got = y[static_cast<size_t>(Offset(l, at))];
      ASSERT_NEAR(got, want[static_cast<size_t>(i)], 4e-4) << what << " " << i << ", " << ToText(d);
    }
    ASSERT_EQ(y.back(), kGuard) << what << " writes behind " << ToText(d);
  }
  // One of several groups, or of one: by products or by lists of places.
  template <class Plan, class MakeLoop>
  void Check(const Plan& plan, uint64_t weights, int64_t biases, MakeLoop make, const ConvCase& c,
             int threads, bool post_ops, std::mt19937* random) const {
    const ConvSpec s = SpecOf(c);
    const std::vector<float> x = Random(Product(s.src), random);
    const std::vector<float> w = Random(Product(s.weights), random);
    const std::vector<float> z = Random(Product(s.dst), random);
    std::vector<float> bias = Random(s.dst[1], random);
    const Layout in = Layout::ChannelsLast(s.src), out = Layout::ChannelsLast(s.dst);
    std::vector<float> packed(weights + 1, kGuard);
    plan.Pack(w.data(), packed.data());
    ASSERT_EQ(packed.back(), kGuard);
    bias.resize(static_cast<size_t>(biases), NAN);  // lanes that are not stored
    std::vector<float> image = Laid(x, in), operand = Laid(z, out);
    std::vector<float> y(static_cast<size_t>(Product(s.dst)) + 1, kGuard);
    std::vector<float> room(plan.workspace_floats() * static_cast<uint64_t>(threads) + 1, NAN);
    std::vector<float*> places = {y.data(), image.data(), packed.data(), bias.data()};
    std::vector<TilePostOp> list;
    if (post_ops) {
      list = {{Fn::kMul, 0, 0, true}, {Fn::kRelu, 0.5f, 0, false}};
      places.push_back(operand.data());
    }
    places.push_back(room.data());
    make(simd(), plan, list)->Run(places.data());
    Expect(Want(c, s, x, w, bias, post_ops ? &z : nullptr), y, out, "sums");
  }
  void CheckProduct(const ConvCase& c, int threads, bool post_ops, std::mt19937* random) const {
    const ChannelsLastPlan plan(simd(), SpecOf(c), machine(threads));
    Check(plan, plan.product.weight_floats(), c.out, ChannelsLastLoop, c, threads, post_ops,
          random);
  }
  void CheckGroups(const ConvCase& c, int threads, bool post_ops, std::mt19937* random) const {
    const ChannelGroupsPlan plan(simd(), SpecOf(c), machine(threads));
    Check(plan, static_cast<uint64_t>(plan.weight_floats()), plan.bias_floats(), ChannelGroupsLoop,
          c, threads, post_ops, random);
  }
  // A depth-wise one, channels last and in blocks.
  void CheckSums(const ConvCase& c, bool post_ops, std::mt19937* random) const {
    const ConvSpec s = SpecOf(c);
    const std::vector<float> x = Random(Product(s.src), random);
    const std::vector<float> w = Random(Product(s.weights), random);
    const std::vector<float> z = Random(Product(s.dst), random);
    const std::vector<float> bias = Random(s.dst[1], random);
    for (const LayoutTag form : {LayoutTag{0, true}, LayoutTag{8, false}, LayoutTag{16, false}}) {
      const Layout in = form.On(s.src), out = form.On(s.dst);
      const int64_t channels = form.block > 0 ? out.blocks() * out.cblock : s.dst[1];
      // Channels that fill a block up have weights, too: nothing of what was there before.
      std::vector<float> packed(static_cast<size_t>(ConvShape(s).taps() * channels) + 1, kGuard);
      PackChannelSums(s, channels, w.data(), packed.data());
      ASSERT_EQ(packed.back(), kGuard);
      for (size_t i = 0; i + 1 < packed.size(); ++i) {
        const auto g = static_cast<int64_t>(i) % channels;
        if (g >= s.dst[1]) {
          ASSERT_EQ(packed[i], 0.0f) << i;
        }
      }
      std::vector<float> wide = bias, image = Laid(x, in), operand = Laid(z, out);
      wide.resize(static_cast<size_t>(channels), 0.0f);
      std::vector<float> y(static_cast<size_t>(out.extent()) + 1, kGuard);
      std::vector<float*> places = {y.data(), image.data(), packed.data(), wide.data()};
      std::vector<TilePostOp> list;
      if (post_ops) {
        list = {{Fn::kMul, 0, 0, true}, {Fn::kRelu, 0.5f, 0, false}};
        places.push_back(operand.data());
      }
      ChannelSumsLoop(simd(), s, in, out, list)->Run(places.data());
      Expect(Want(c, s, x, w, bias, post_ops ? &z : nullptr), y, out, "sums");
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Isa, ChannelsLast, ::testing::ValuesIn(IsaSets()), NameOfIsaSet);

constexpr ConvCase kProducts[] = {
    {1, 1, 8, 8, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {2, 1, 16, 24, {9, 11}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},  // the image is the rows
    {2, 1, 24, 50, {9, 11}, {1, 1}, {2, 2}, {1, 1}, {0, 0}, {0, 0}},
    {1, 1, 9, 17, {1, 7}, {1, 1}, {1, 1}, {1, 1}, {1, 0}, {0, 2}},  // one tap with a border
    {1, 1, 20, 65, {30, 31}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {3, 1, 13, 49, {14, 9}, {5, 3}, {2, 1}, {1, 2}, {2, 2}, {2, 2}},
    {1, 1, 33, 100, {7, 7}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 0}},
    {1, 1, 10, 97, {3, 4}, {3, 4}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},  // one pixel
    {1, 1, 300, 9, {4, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},  // few rows fit
    {1, 1, 8, 9, {2, 2}, {2, 2}, {4, 4}, {1, 1}, {3, 3}, {3, 3}},    // windows of padding alone
};

TEST_P(ChannelsLast, ProductsEqualSums) {
  std::mt19937 random(5);
  for (const ConvCase& c : kProducts) {
    for (const int threads : {1, 2, 3}) CheckProduct(c, threads, threads != 1, &random);
    if (HasFatalFailure()) return;
  }
}

TEST_P(ChannelsLast, ProductsEqualSumsAtRandomSizes) {
  std::mt19937 random(17);
  auto any = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  for (int round = 0; round < 100; ++round) {
    ConvCase c = {any(1, 3), 1, any(1, 40), any(1, 120), {}, {}, {}, {}, {}, {}};
    for (int k = 0; k < 2; ++k) {
      c.kernel[k] = any(1, 4);
      c.stride[k] = any(1, 1 + round % 3);
      c.dilation[k] = any(1, 2);
      c.pad_l[k] = any(0, 3);
      c.pad_r[k] = any(0, 3);
      const int64_t window = (c.kernel[k] - 1) * c.dilation[k] + 1;
      c.src[k] = std::max(any(1, 20), window - c.pad_l[k] - c.pad_r[k]);
    }
    CheckProduct(c, static_cast<int>(any(1, 3)), any(0, 1) == 1, &random);
    if (HasFatalFailure()) return;
  }
}

constexpr ConvCase kGroups[] = {
    {1, 32, 4, 4, {14, 15}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},  // four channels of a vector
    {2, 32, 2, 2, {9, 7}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},    // two
    {1, 18, 4, 4, {6, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},    // no whole vectors of them
    {1, 24, 8, 8, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},    // two groups in a vector
    {1, 5, 8, 8, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},     // and one left
    {2, 3, 24, 24, {8, 9}, {3, 3}, {2, 1}, {1, 2}, {1, 2}, {1, 2}},   // a vector and a half
    {1, 2, 40, 112, {5, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},  // several parts of a group
    {1, 4, 6, 3, {11, 4}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {1, 2, 4, 4, {2, 2}, {2, 2}, {4, 4}, {1, 1}, {3, 3}, {3, 3}},  // windows of padding alone
};

TEST_P(ChannelsLast, GroupsEqualSums) {
  std::mt19937 random(7);
  for (const ConvCase& c : kGroups) {
    for (const int threads : {1, 2, 3}) CheckGroups(c, threads, threads != 1, &random);
    if (HasFatalFailure()) return;
  }
}

// A transposed convolution: each pixel of x laid down over its window, on the bias.
std::vector<double> LaidDown(const ConvSpec& s, const std::vector<float>& x,
                             const std::vector<float>& w, const std::vector<float>& bias) {
  const ConvShape shape(s);
  const int64_t in = shape.in, out = shape.out;
  std::vector<double> want(static_cast<size_t>(Product(s.dst)));
  for (int64_t i = 0; i < Product(s.dst); ++i) {
    want[static_cast<size_t>(i)] =
        double{bias[static_cast<size_t>(i / shape.dst_pixels() % s.dst[1])]};
  }
  for (int64_t i = 0; i < Product(s.src); ++i) {
    const int64_t pixel = i % shape.src_pixels(), channel = i / shape.src_pixels() % s.src[1];
    for (int64_t o = 0; o < out; ++o) {
      for (int64_t t = 0; t < shape.taps(); ++t) {
        const int64_t h =
            pixel / s.src[3] * s.stride[0] + t / shape.kernel[2] * s.dilation[0] - s.pad_l[0];
        const int64_t v =
            pixel % s.src[3] * s.stride[1] + t % shape.kernel[2] * s.dilation[1] - s.pad_l[1];
        if (h < 0 || h >= s.dst[2] || v < 0 || v >= s.dst[3]) continue;
        const int64_t to = i / shape.src_pixels() / s.src[1] * s.dst[1] + channel / in * out + o;
        want[static_cast<size_t>((to * s.dst[2] + h) * s.dst[3] + v)] +=
            double{x[static_cast<size_t>(i)]} *
            double{w[static_cast<size_t>((channel * out + o) * shape.taps() + t)]};
      }
    }
  }
  return want;
}

// Against each pixel of x laid down over its window.
TEST_P(ChannelsLast, TransposedOnesEqualSums) {
  std::mt19937 random(37);
  auto any = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  for (int round = 0; round < 60; ++round) {
    ConvSpec s;
    s.transposed = true;
    s.groups = round % 3 == 0 ? any(2, 4) : 1;
    const int64_t in = any(2, 20), out = any(8, 60), g = s.groups;
    s.src = {any(1, 2), in * g};
    s.dst = {s.src[0], out * g};
    s.weights = {out, in};
    if (g > 1) s.weights.insert(s.weights.begin(), g);
    for (size_t k = 0; k < 2; ++k) {
      const int64_t kernel = any(1, 5);
      s.src.push_back(any(1, 9));
      s.weights.push_back(kernel);
      s.stride.push_back(any(1, 3));
      s.dilation.push_back(any(1, 2));
      s.pad_l.push_back(any(0, 2));
      s.pad_r.push_back(0);
      const int64_t whole = (s.src[k + 2] - 1) * s.stride[k] + (kernel - 1) * s.dilation[k] + 1;
      s.dst.push_back(std::max<int64_t>(1, whole - s.pad_l[k] - any(0, 2) + any(0, 1)));
    }
    const ConvShape shape(s);
    const std::vector<float> x = Random(Product(s.src), &random);
    const std::vector<float> w = Random(in * g * out * shape.taps(), &random);
    std::vector<float> bias = Random(s.dst[1], &random);
    std::vector<double> want = LaidDown(s, x, w, bias);
    const int threads = 1 + round % 2;
    const ChannelGroupsPlan plan(simd(), s, machine(threads));
    std::vector<float> packed(static_cast<size_t>(plan.weight_floats()) + 1, kGuard);
    plan.Pack(w.data(), packed.data());
    ASSERT_EQ(packed.back(), kGuard);
    bias.resize(static_cast<size_t>(plan.bias_floats()), NAN);
    std::vector<float> image = Laid(x, Layout::ChannelsLast(s.src));
    std::vector<float> y(static_cast<size_t>(Product(s.dst)) + 1, kGuard);
    std::vector<float> room(plan.workspace_floats() * static_cast<uint64_t>(threads), NAN);
    float* const places[] = {y.data(), image.data(), packed.data(), bias.data(), room.data()};
    ChannelGroupsLoop(simd(), plan, {{Fn::kRelu, 0.5f, 0, false}})->Run(places);
    for (double& v : want) v = v < 0 ? v / 2 : v;
    Expect(want, y, Layout::ChannelsLast(s.dst), "transposed");
    if (HasFatalFailure()) return;
  }
}

TEST_P(ChannelsLast, GroupsEqualSumsAtRandomSizes) {
  std::mt19937 random(19);
  auto any = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  for (int round = 0; round < 100; ++round) {
    const int64_t in = round % 3 == 0 ? 2 << any(0, 4) : any(2, 40);
    ConvCase c = {any(1, 3), any(2, 20), in, round % 2 == 0 ? in : any(1, 60), {}, {}, {},
                  {},        {},         {}};
    for (int k = 0; k < 2; ++k) {
      c.kernel[k] = any(1, 4);
      c.stride[k] = any(1, 1 + round % 3);
      c.dilation[k] = any(1, 2);
      c.pad_l[k] = any(0, 3);
      c.pad_r[k] = any(0, 3);
      const int64_t window = (c.kernel[k] - 1) * c.dilation[k] + 1;
      c.src[k] = std::max(any(1, 12), window - c.pad_l[k] - c.pad_r[k]);
    }
    CheckGroups(c, static_cast<int>(any(1, 3)), any(0, 1) == 1, &random);
    if (HasFatalFailure()) return;
  }
}

TEST_P(ChannelsLast, SumsOfEachChannel) {
  std::mt19937 random(23);
  auto any = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  for (int round = 0; round < 120; ++round) {
    ConvCase c = {any(1, 2), round % 2 == 0 ? any(1, 75) : 16 * any(1, 6), 1, 1, {}, {}, {}, {}, {},
                  {}};
    for (int k = 0; k < 2; ++k) {
      c.kernel[k] = any(1, 5);
      c.stride[k] = any(1, 1 + round % 3);
      c.dilation[k] = any(1, 2);
      c.pad_l[k] = any(0, 5);
      c.pad_r[k] = any(0, 5);
      const int64_t window = (c.kernel[k] - 1) * c.dilation[k] + 1;
      c.src[k] = std::max(any(1, 24), window - c.pad_l[k] - c.pad_r[k]);
    }
    CheckSums(c, any(0, 1) == 1, &random);
    if (HasFatalFailure()) return;
  }
}

// Rows of 3 and 5 taps, beside each other and two apart, whose overlaps are read once; and what is
// next to them: rows of 4, windows three apart, dilated ones.
TEST_P(ChannelsLast, SumsOfRowsOfTaps) {
  std::mt19937 random(31);
  for (const int64_t kernel : {3, 4, 5}) {
    for (const int64_t stride : {1, 2, 3}) {
      for (const int64_t dilation : {1, 2}) {
        for (const int64_t channels : {8, 21, 40, 512}) {
          CheckSums({1,
                     channels,
                     1,
                     1,
                     {11, 24},
                     {kernel, kernel},
                     {stride, stride},
                     {dilation, dilation},
                     {1, 2},
                     {2, 1}},
                    channels == 40, &random);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(ChannelsLast, SumsKeepInfinitiesAndNaN) {
  const ConvCase c = {1, 20, 1, 1, {9, 10}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  const ConvSpec s = SpecOf(c);
  std::mt19937 random(3);
  std::vector<float> x = Random(Product(s.src), &random), w = Random(Product(s.weights), &random);
  std::vector<float> bias = Random(s.dst[1], &random);
  x[18] = INFINITY;
  x[300] = -INFINITY;
  x[415] = NAN;
  w[4] = 0;
  const Layout l = Layout::ChannelsLast(s.src);
  std::vector<float> packed(180), image = Laid(x, l), y(static_cast<size_t>(Product(s.dst)));
  PackChannelSums(s, 20, w.data(), packed.data());
  float* const places[] = {y.data(), image.data(), packed.data(), bias.data()};
  ChannelSumsLoop(simd(), s, l, l, {})->Run(places);
  for (int64_t i = 0; i < Product(s.dst); ++i) {
    const double want = DirectSum(c, s, x, w, i);
    const float got = y[static_cast<size_t>(i % 90 * 20 + i / 90)];
    ASSERT_EQ(std::isnan(got), std::isnan(want)) << i;
    ASSERT_EQ(std::isinf(got), std::isinf(want)) << i;
  }
}

TEST_P(ChannelsLast, DirectOnesLeaveTheirChannelsLast) {
  std::mt19937 random(29);
  for (const ConvCase& c :
       {ConvCase{2, 1, 3, 40, {17, 23}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
        ConvCase{1, 1, 24, 9, {60, 70}, {3, 3}, {1, 1}, {2, 2}, {2, 2}, {2, 2}},
        ConvCase{1, 2, 3, 30, {9, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}}) {
    for (const int threads : {1, 2}) {
      const ConvSpec s = SpecOf(c);
      std::vector<float> x = Random(Product(s.src), &random);
      std::vector<float> w = Random(Product(s.weights), &random);
      std::vector<float> bias = Random(s.dst[1], &random);
      const DirectPlan plan(s, machine(threads));
      std::vector<float> room(plan.workspace_floats() * static_cast<uint64_t>(threads), NAN);
      std::vector<float> y(static_cast<size_t>(Product(s.dst)) + 1, kGuard);
      float* const places[] = {y.data(), x.data(), w.data(), bias.data(), room.data()};
      DirectLoop(simd(), plan, {{Fn::kRelu, 0.5f, 0, -1}}, true)->Run(places);
      std::vector<double> want = Want(c, s, x, w, bias, nullptr);
      for (double& v : want) v = v < 0 ? v / 2 : v;
      Expect(want, y, Layout::ChannelsLast(s.dst), "direct");
    }
  }
}

// Against the same windows of plain images, which have a test of their own.
TEST_P(ChannelsLast, Pools) {
  std::mt19937 random(31);
  auto any = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  };
  for (int round = 0; round < 120; ++round) {
    const size_t axes = static_cast<size_t>(1 + round % 3);
    Pool p;
    p.max = round % 2 == 0;
    p.count_pad = any(0, 1) == 1;
    p.x = p.result = {any(1, 2), any(1, 40)};
    for (size_t k = 0; k < axes; ++k) {
      p.window.push_back(any(1, 3));
      p.stride.push_back(any(1, 3));
      p.dilation.push_back(1);
      p.pad_begin.push_back(any(0, p.window[k] - 1));
      p.pad_end.push_back(any(0, p.window[k] - 1));
      p.x.push_back(std::max<int64_t>(any(1, 12), p.window[k] - p.pad_begin[k] - p.pad_end[k]));
      p.result.push_back((p.x[k + 2] + p.pad_begin[k] + p.pad_end[k] - p.window[k]) / p.stride[k] +
                         1);
    }
    std::vector<float> x = Random(Product(p.x), &random);
    if (round % 4 == 0) x[0] = NAN;
    std::vector<float> plain(static_cast<size_t>(Product(p.result)));
    float* const from[] = {plain.data(), x.data()};
    PoolLoop(simd(), p)->Run(from);
    for (const LayoutTag form : {LayoutTag{0, true}, LayoutTag{8, false}, LayoutTag{16, false}}) {
      const Layout in = form.On(p.x), out = form.On(p.result);
      std::vector<float> image = Laid(x, in);
      std::vector<float> y(static_cast<size_t>(out.extent()) + 1, kGuard);
      float* const places[] = {y.data(), image.data()};
      ChannelPoolLoop(simd(), p, in, out)->Run(places);
      const std::vector<float> want = Laid(plain, out);
      for (size_t i = 0; i < want.size(); ++i) {
        ASSERT_EQ(std::isnan(y[i]), std::isnan(want[i])) << round << " " << i;
        if (!std::isnan(want[i]) && !std::isinf(want[i])) {
          ASSERT_NEAR(y[i], want[i], 2e-6) << round;
        }
        if (std::isinf(want[i])) {
          ASSERT_EQ(y[i], want[i]) << round;
        }
      }
      ASSERT_EQ(y.back(), kGuard);
    }
  }
}

// Groups that share a vector keep out of each other's sums.
TEST_P(ChannelsLast, GroupsKeepInfinitiesApart) {
  for (const int64_t in : {2, 4, 8, 16}) {
    const ConvCase c = {1, 8, in, in, {5, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
    const ConvSpec s = SpecOf(c);
    std::mt19937 random(3);
    std::vector<float> x = Random(Product(s.src), &random), w = Random(Product(s.weights), &random);
    x[static_cast<size_t>(in * 30 + 8)] = INFINITY;  // of the second group
    const Layout l = Layout::ChannelsLast(s.src);
    const ChannelGroupsPlan plan(simd(), s, machine(1));
    std::vector<float> packed(static_cast<size_t>(plan.weight_floats())), image = Laid(x, l);
    std::vector<float> bias(static_cast<size_t>(plan.bias_floats())), room(plan.workspace_floats());
    std::vector<float> y(static_cast<size_t>(Product(s.dst)));
    plan.Pack(w.data(), packed.data());
    float* const places[] = {y.data(), image.data(), packed.data(), bias.data(), room.data()};
    ChannelGroupsLoop(simd(), plan, {})->Run(places);
    for (int64_t i = 0; i < Product(s.dst); ++i) {
      const double want = DirectSum(c, s, x, w, i);
      const float got = y[static_cast<size_t>(i % 30 * s.dst[1] + i / 30)];
      ASSERT_EQ(std::isnan(got), std::isnan(want)) << in << " " << i;
      ASSERT_EQ(std::isinf(got), std::isinf(want)) << in << " " << i;
    }
  }
}

TEST(ChannelsLastPlan, CutsWhatThreadsShare) {
  Machine m;
  m.isa = MachineOf(nullptr).isa;
  m.threads = 2;
  const Simd& simd = SimdOf(m.isa);
  // Many pixels: each thread has pieces of them; few: of the panels, too.
  const ChannelsLastPlan many(
      simd, SpecOf({1, 1, 64, 64, {56, 56}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}), m);
  EXPECT_GE(many.product.m / many.pixels, 8);
  EXPECT_EQ(many.panels, many.product.panels);
  const ChannelsLastPlan few(
      simd, SpecOf({1, 1, 512, 512, {4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}), m);
  EXPECT_LT(few.panels, few.product.panels);
  // The rows that are gathered at once stay in the second cache.
  EXPECT_LE(many.workspace_floats(), uint64_t{kGatheredFloats});
}

}  // namespace
}  // namespace ge_engines::cpu::native
