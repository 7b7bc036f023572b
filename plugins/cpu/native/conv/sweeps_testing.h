// Runs pools and convolutions at the sizes of a sweep. For tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "plugins/cpu/kit/aligned_block.h"
#include "plugins/cpu/kit/conv_loop.h"
#include "plugins/cpu/kit/im2col_tiles.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/conv/direct.h"
#include "plugins/cpu/native/reduce/pool.h"
#include "plugins/cpu/native/sweeps_testing.h"
#include "plugins/units/conv/conv.h"

namespace ge_engines::cpu::native {

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
