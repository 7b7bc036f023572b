// Windows of images of up to three axes: pools, and the plain convolution that stands in where a
// library has none. Missing axes in front have size 1.
#pragma once

#include "plugins/gpu/kernels/args.h"
#include "plugins/gpu/kernels/functions.h"
#include "plugins/gpu/kernels/index.h"

namespace ge_engines::gpu {

inline constexpr int kWindowAxes = 3;

struct Window {
  int64_t src[kWindowAxes] = {1, 1, 1};
  Divider dst[kWindowAxes];
  int64_t kernel[kWindowAxes] = {1, 1, 1}, stride[kWindowAxes] = {1, 1, 1};
  int64_t dilation[kWindowAxes] = {1, 1, 1}, pad[kWindowAxes] = {};
};

// First pixel of the window of result pixel n, which becomes what counts the planes.
GE_GPU_BODY uint64_t FirstPixel(const Window& w, uint64_t n, int64_t (&first)[kWindowAxes]) {
  for (int k = kWindowAxes - 1; k >= 0; --k) {
    const uint64_t over = w.dst[k].Quotient(n);
    first[k] = static_cast<int64_t>(n - over * w.dst[k].divisor) * w.stride[k] - w.pad[k];
    n = over;
  }
  return n;
}

// Calls use(pixel, tap) for the taps that lie in the image.
template <class Use>
GE_GPU_BODY void EachTap(const Window& w, const int64_t (&first)[kWindowAxes], const Use& use) {
  for (int64_t i = 0; i < w.kernel[0]; ++i) {
    const int64_t x = first[0] + i * w.dilation[0];
    if (x < 0 || x >= w.src[0]) continue;
    for (int64_t j = 0; j < w.kernel[1]; ++j) {
      const int64_t y = first[1] + j * w.dilation[1];
      if (y < 0 || y >= w.src[1]) continue;
      for (int64_t k = 0; k < w.kernel[2]; ++k) {
        const int64_t z = first[2] + k * w.dilation[2];
        if (z < 0 || z >= w.src[2]) continue;
        use((x * w.src[1] + y) * w.src[2] + z, (i * w.kernel[1] + j) * w.kernel[2] + k);
      }
    }
  }
}

// Places: result, x. One thread a pixel of the result.
struct PoolArgs : Args<2> {
  Window window;
  bool max = true, count_pad = false;
};

GE_GPU_BODY void PoolThread(const PoolArgs& a, int64_t i) {
  int64_t first[kWindowAxes];
  const Window& w = a.window;
  const uint64_t plane = FirstPixel(w, static_cast<uint64_t>(i), first);
  const int64_t from = static_cast<int64_t>(plane) * w.src[0] * w.src[1] * w.src[2];
  float v = a.max ? -INFINITY : 0.0f;
  int64_t count = 0;
  EachTap(w, first, [&](int64_t pixel, int64_t) {
    const float x = a.Float(1, from + pixel);
    v = a.max ? Greater(v, x) : v + x;
    ++count;
  });
  if (a.count_pad) count = w.kernel[0] * w.kernel[1] * w.kernel[2];
  a.Store(0, i, a.max ? v : v / static_cast<float>(count));
}

// Places: dX, dY, x. One thread a pixel of x: it looks for itself in the windows that it lies in,
// of which the first greatest number gets the slope, NaN being greater than all.
struct PoolGradArgs : Args<3> {
  Window window;
};

GE_GPU_BODY void PoolGradThread(const PoolGradArgs& a, int64_t i) {
  const Window& w = a.window;
  const int64_t pixels = w.src[0] * w.src[1] * w.src[2];
  const int64_t windows =
      static_cast<int64_t>(w.dst[0].divisor * w.dst[1].divisor * w.dst[2].divisor);
  const int64_t plane = i / pixels, own = i % pixels;
  const int64_t at[kWindowAxes] = {own / (w.src[1] * w.src[2]), own / w.src[2] % w.src[1],
                                   own % w.src[2]};
  int64_t low[kWindowAxes], high[kWindowAxes];  // windows whose span holds the pixel
  for (int k = 0; k < kWindowAxes; ++k) {
    const int64_t reach = (w.kernel[k] - 1) * w.dilation[k], place = at[k] + w.pad[k];
    const auto last = static_cast<int64_t>(w.dst[k].divisor) - 1;
    low[k] = place <= reach ? 0 : (place - reach + w.stride[k] - 1) / w.stride[k];
    high[k] = place / w.stride[k] < last ? place / w.stride[k] : last;
  }
  float slope = 0;
  for (int64_t x = low[0]; x <= high[0]; ++x) {
    for (int64_t y = low[1]; y <= high[1]; ++y) {
      for (int64_t z = low[2]; z <= high[2]; ++z) {
        const int64_t first[kWindowAxes] = {x * w.stride[0] - w.pad[0], y * w.stride[1] - w.pad[1],
                                            z * w.stride[2] - w.pad[2]};
        int64_t best = -1;
        float most = 0;
        EachTap(w, first, [&](int64_t pixel, int64_t) {
          const float v = a.Float(2, plane * pixels + pixel);
          if (best >= 0 && (v <= most || most != most)) return;
          best = pixel;
          most = v;
        });
        if (best != own) continue;
        const auto sizes_y = static_cast<int64_t>(w.dst[1].divisor);
        const auto sizes_z = static_cast<int64_t>(w.dst[2].divisor);
        slope += a.Float(1, plane * windows + (x * sizes_y + y) * sizes_z + z);
      }
    }
  }
  a.Store(0, i, slope);
}

// Places: result, x, weights, bias.
struct ConvArgs : Args<4> {
  Window window;
  Divider channels;                     // of the result
  int64_t group_out = 1, group_in = 1;  // channels of one group
  int64_t groups = 1;
  bool biased = false;
};

GE_GPU_BODY void ConvThread(const ConvArgs& a, int64_t i) {
  int64_t first[kWindowAxes];
  const Window& w = a.window;
  const uint64_t plane = FirstPixel(w, static_cast<uint64_t>(i), first);
  const uint64_t image = a.channels.Quotient(plane);
  const auto channel = static_cast<int64_t>(plane - image * a.channels.divisor);
  const int64_t group = channel / a.group_out;
  const int64_t pixels = w.src[0] * w.src[1] * w.src[2];
  const int64_t taps = w.kernel[0] * w.kernel[1] * w.kernel[2];
  int64_t x = (static_cast<int64_t>(image) * a.groups + group) * a.group_in * pixels;
  int64_t weights = channel * a.group_in * taps;
  float sum = 0;
  for (int64_t c = 0; c < a.group_in; ++c, x += pixels, weights += taps) {
    float part = 0;
    EachTap(w, first, [&](int64_t pixel, int64_t tap) {
      part += a.Float(1, x + pixel) * a.Float(2, weights + tap);
    });
    sum += part;
  }
  a.Store(0, i, sum + (a.biased ? a.Float(3, channel) : 0.0f));
}

// The same places; `window` is that of the convolution whose gradient this is: src is the result
// here, dst is x. Weights are [channels of x, channels of the result of one group, taps].
GE_GPU_BODY void ConvTransposeThread(const ConvArgs& a, int64_t i) {
  const Window& w = a.window;
  const int64_t pixels = w.src[0] * w.src[1] * w.src[2];
  const auto y1 = static_cast<int64_t>(w.dst[1].divisor);
  const auto y2 = static_cast<int64_t>(w.dst[2].divisor);
  const int64_t x_pixels = static_cast<int64_t>(w.dst[0].divisor) * y1 * y2;
  const int64_t taps = w.kernel[0] * w.kernel[1] * w.kernel[2];
  const int64_t plane = i / pixels, own = i % pixels;
  const auto image = static_cast<int64_t>(a.channels.Quotient(static_cast<uint64_t>(plane)));
  const int64_t channel = plane - image * static_cast<int64_t>(a.channels.divisor);
  const int64_t group = channel / a.group_out, in_group = channel % a.group_out;
  const int64_t at[kWindowAxes] = {own / (w.src[1] * w.src[2]), own / w.src[2] % w.src[1],
                                   own % w.src[2]};
  float sum = 0;
  for (int64_t tap = 0; tap < taps; ++tap) {
    const int64_t t[kWindowAxes] = {tap / (w.kernel[1] * w.kernel[2]),
                                    tap / w.kernel[2] % w.kernel[1], tap % w.kernel[2]};
    int64_t from[kWindowAxes];
    bool inside = true;
    for (int k = 0; k < kWindowAxes; ++k) {
      const int64_t place = at[k] + w.pad[k] - t[k] * w.dilation[k];
      from[k] = place / w.stride[k];
      inside = inside && place >= 0 && from[k] * w.stride[k] == place &&
               from[k] < static_cast<int64_t>(w.dst[k].divisor);
    }
    if (!inside) continue;
    const int64_t pixel = (from[0] * y1 + from[1]) * y2 + from[2];
    float part = 0;
    for (int64_t c = 0; c < a.group_in; ++c) {
      const int64_t x = (image * a.groups + group) * a.group_in + c;
      const int64_t weight = ((group * a.group_in + c) * a.group_out + in_group) * taps + tap;
      part += a.Float(1, x * x_pixels + pixel) * a.Float(2, weight);
    }
    sum += part;
  }
  a.Store(0, i, sum + (a.biased ? a.Float(3, channel) : 0.0f));
}

}  // namespace ge_engines::gpu
