// Shared by random cases of gradients.
#pragma once

#include "tools/ge_test/oracle/windows.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {

// The shapes of a convolution's image, weight and result; its attributes are set.
struct ConvDims {
  Dims x, w, y;
};
inline ConvDims MakeLargeConvDims(CaseMaker& maker) {
  const auto [x, w] = SetLargeConv(maker);
  const PlainWindows windows(maker.c, SpatialOf(x), SpatialOf(w));
  return {x, w, Cat({x[0], w[0]}, windows.out)};
}
inline ConvDims MakeConvDims(CaseMaker& maker) {
  if (maker.large) return MakeLargeConvDims(maker);
  const bool picture = maker.r.Chance(0.4);
  Window w = MakeWindow(maker, true);
  if (picture) {
    w = {};
    w.kernel = {3, 3};
    w.strides = Dims(2, maker.r.Int(1, 2));
    w.dilations = {1, 1};
    w.size = {maker.r.Int(3, 14), maker.r.Int(3, 14)};
    w.pads = {1, 1, maker.r.Int(0, 1), maker.r.Int(0, 1)};
  }
  const int64_t group = picture ? 1 : maker.r.Pick(std::vector<int64_t>{1, 1, 1, 2, 3});
  const int64_t most = picture ? 40 : 4, in = maker.r.Int(1, most), out = maker.r.Int(1, most);
  for (size_t i = 0; w.automatic && i < w.size.size(); ++i) {
    w.size[i] = std::max(w.size[i], Reach(w, i));
  }
  if (group != 1) maker.Set("group", group);
  SetWindow(maker, w, true);
  SetAllPads(maker, w);
  const int64_t images = maker.r.Chance(0.05) ? 0 : maker.r.Int(1, 2);
  const PlainWindows windows(maker.c, w.size, w.kernel);
  return {Cat({images, in * group}, w.size), Cat({out * group, in}, w.kernel),
          Cat({images, out * group}, windows.out)};
}

inline std::shared_ptr<HostTensor> ShapeTensor(CaseMaker& maker, const Dims& dims) {
  return maker.Ints(DType::kInt64, {static_cast<int64_t>(dims.size())}, dims);
}

// f(element of x, of w, of y) for all products in a convolution's sums.
template <typename F>
void ForProducts(const RandomCase& sample, const ConvDims& dims, F call) {
  const PlainWindows windows(sample, SpatialOf(dims.x), SpatialOf(dims.w));
  const int64_t group = IntOr(sample, "group", 1), channels = dims.w[0], in = dims.w[1];
  const int64_t area = ProductOf(windows.size), taps = ProductOf(windows.kernel);
  int64_t y = 0;
  for (int64_t plane = 0; plane < dims.x[0] * channels; ++plane) {
    const int64_t o = plane % channels;
    const int64_t first = plane / channels * dims.x[1] + o / (channels / group) * in;
    Index window(windows.out);
    for (int64_t k = ProductOf(windows.out); k > 0; --k, ++y, window.Next()) {
      Index tap(windows.kernel);
      for (int64_t t = 0; t < taps; ++t, tap.Next()) {
        const Dims at = windows.At(window.at, tap.at);
        if (!windows.IsInside(at)) continue;
        const int64_t from = Flat(windows.size, at);
        for (int64_t i = 0; i < in; ++i)
          call((first + i) * area + from, (o * in + i) * taps + t, y);
      }
    }
  }
}

inline void SetElements(const std::vector<double>& from, HostTensor* out) {
  for (size_t i = 0; i < from.size(); ++i) SetElement(out, static_cast<int64_t>(i), from[i]);
}

// N x C x spatial in f32 or f64, now and then with enough channels for blocks of them.
inline Dims AddChannels(CaseMaker& maker) {
  const Dims size = maker.Shape(0, 3, false);
  const bool many = maker.r.Chance(maker.large && CountOf(size) <= 3000 ? 0.7 : 0.3);
  const Dims dims = Cat({maker.r.Int(1, 3), many ? maker.r.Int(5, 40) : maker.r.Int(1, 4)}, size);
  maker.Add(Signal(maker, dims));
  return dims;
}

// For each channel of [N, C, ...]: the mean of f(element's number).
template <typename F>
std::vector<double> ChannelMeans(const Dims& dims, F call) {
  const int64_t area = ProductOf(SpatialOf(dims)), n = ProductOf(dims);
  std::vector<double> sums(static_cast<size_t>(dims[1]));
  for (int64_t i = 0; i < n; ++i) sums[static_cast<size_t>(i / area % dims[1])] += call(i);
  for (double& s : sums) s /= static_cast<double>(dims[0] * area);
  return sums;
}
inline double OfChannel(const std::vector<double>& values, const Dims& dims, int64_t element) {
  return values[static_cast<size_t>(element / ProductOf(SpatialOf(dims)) % dims[1])];
}
struct PlainMoments {
  std::vector<double> mean, variance;
  explicit PlainMoments(const HostTensor& x) {
    mean = ChannelMeans(x.dims, [&](int64_t i) { return ElementAsDouble(x, i); });
    variance = ChannelMeans(x.dims, [&](int64_t i) {
      const double d = ElementAsDouble(x, i) - OfChannel(mean, x.dims, i);
      return d * d;
    });
  }
};

}  // namespace ge::test
