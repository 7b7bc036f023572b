// Signals and windows of random cases, and the sizes of large ones: products, convolutions, pools
// and recurrent layers. Sizes lie on both sides of the thresholds of the CPU engines' kernels
// (plugins/cpu has their table), at tails of every tile, and are those of networks. The work of a
// case is bounded, since ref's plain loops compute it too.
#pragma once

#include <algorithm>
#include <cmath>

#include "tools/ge_test/random_case.h"

namespace ge::test {

inline std::shared_ptr<HostTensor> Signal(CaseMaker& maker, const Dims& dims) {
  return IsFloat(maker.dtype()) ? maker.Numbers(maker.dtype(), dims, -1, 1)
                                : maker.Numbers(maker.dtype(), dims, -9, 9);
}

inline Dims Cat(Dims left, const Dims& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

// Sizes and attributes of windows of Conv, ConvTranspose and the pools.
struct Window {
  Dims size, kernel, strides, dilations, pads;
  bool automatic = false;
};

inline int64_t Reach(const Window& window, size_t i) {
  return (window.kernel[i] - 1) * window.dilations[i] + 1;
}

// Multiply-adds of one case: ref needs some 10 ms.
inline constexpr int64_t kMostProducts = 16'000'000;

inline int64_t Beside(CaseMaker& maker, int64_t size) {
  return std::max<int64_t>(1, size + maker.r.Int(-3, 3));
}

struct ProductSize {
  int64_t rows, depth, columns;
};

// The size of each of `batch` products.
inline ProductSize LargeProduct(CaseMaker& maker, int64_t batch = 1) {
  static const std::vector<int64_t> kAreas = {16384, 65536, 262144, 262144, 524288, 524288};
  static const std::vector<int64_t> kDepths = {64, 128, 192, 256, 384, 512, 512, 640, 768, 1024};
  static const std::vector<std::pair<int64_t, int64_t>> kNets = {
      {384, 384}, {384, 1536}, {1536, 384}, {512, 1000}, {768, 768}, {256, 1024}, {768, 512}};
  ProductSize s{maker.r.Chance(0.8) ? maker.r.Int(1, 40) : maker.Size(0, 600), 1, 1};
  switch (maker.r.Int(0, 7)) {
    case 0:
    case 1:
    case 7: {  // beside the size of b at which it is shared among threads, or streamed by one or
               // two
      const int64_t area = maker.r.Pick(kAreas);
      const int64_t columns = maker.r.Chance(0.3) ? Beside(maker, 128) : maker.r.Int(100, 4200);
      s.columns = columns;
      s.depth = std::max<int64_t>(1, area / columns + maker.r.Int(-2, 17));
      break;
    }
    case 2:  // more columns than stay in a cache
      s.columns = Beside(maker, maker.r.Pick(std::vector<int64_t>{4096, 8192}));
      s.depth = maker.r.Int(60, 90);
      break;
    case 3:  // blocks of rows of b
      s.depth = Beside(maker, maker.r.Pick(kDepths));
      s.columns = maker.Size(0, 300);
      break;
    case 4: {
      const auto [depth, columns] = maker.r.Pick(kNets);
      s.depth = depth;
      s.columns = columns;
      break;
    }
    case 5:
      s.depth = maker.r.Int(1, 80);
      s.columns = maker.r.Int(1, 80);
      break;
    default:
      s.depth = maker.Size(0, 1000);
      s.columns = maker.Size(0, 1000);
  }
  const int64_t most = std::max<int64_t>(1, kMostProducts / std::max<int64_t>(1, batch));
  while (s.depth * s.columns > most) s.columns = (s.columns + 1) / 2;
  s.rows = std::clamp<int64_t>(most / (s.depth * s.columns), 1, s.rows);
  maker.c.terms = s.depth;
  return s;
}

// Matrices of a batch: broadcast where one side is a weight.
inline Dims LargeBatch(CaseMaker& maker) {
  if (maker.r.Chance(0.6)) return {};
  return maker.r.Chance(0.5) ? Dims{maker.r.Int(1, 12)}
                             : Dims{maker.r.Int(1, 3), maker.r.Int(1, 12)};
}
inline int64_t CountOf(const Dims& dims) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return n;
}
// The shapes of both sides of a large MatMul.
inline std::pair<Dims, Dims> LargeSides(CaseMaker& maker) {
  const Dims batch = LargeBatch(maker);
  const ProductSize s = LargeProduct(maker, CountOf(batch));
  const bool shared = maker.r.Chance(0.5);  // one b for all
  // A batch of weights has to be made and copied as well.
  const bool small = shared || CountOf(batch) * s.depth * s.columns <= 600'000;
  return {Cat(batch, {s.rows, s.depth}),
          Cat(small && !shared ? batch : Dims{}, {s.depth, s.columns})};
}

// A convolution: sizes of x and of the weights, and its attributes. Kinds of picture networks, of
// sound (one axis), and depth-wise ones.
struct LargeConv {
  int64_t batch = 1, group = 1, in = 1, out = 1;  // in, out: channels of a group
  Window window;
};

inline void AxisOf(CaseMaker& maker, LargeConv* conv, int64_t kernel, int64_t stride,
                   int64_t dilation, int64_t most) {
  Window& w = conv->window;
  w.kernel.push_back(kernel);
  w.strides.push_back(stride);
  w.dilations.push_back(dilation);
  w.size.push_back(std::max((kernel - 1) * dilation + 1, maker.Size(0, most)));
}

inline int64_t ProductsOf(const LargeConv& conv) {
  int64_t n = conv.batch * conv.group * conv.in * conv.out;
  for (size_t i = 0; i < conv.window.size.size(); ++i) {
    n *= conv.window.kernel[i] *
         ((conv.window.size[i] + conv.window.strides[i] - 1) / conv.window.strides[i]);
  }
  return n;
}

inline LargeConv MakeLargeConv(CaseMaker& maker) {
  LargeConv c;
  const int64_t kind = maker.r.Int(0, 6);
  const int64_t stride = maker.r.Chance(0.7) ? 1 : 2;
  c.batch = maker.r.Chance(0.7) ? 1 : maker.r.Int(2, 9);
  c.in = maker.Size(0, 130);
  c.out = maker.Size(0, 130);
  const auto square = [&](int64_t kernel, int64_t most) {
    for (int i = 0; i < 2; ++i) AxisOf(maker, &c, kernel, stride, 1, most);
  };
  if (kind == 0) {
    c.in = maker.Size(0, 300);
    c.out = maker.Size(0, 300);
    square(1, 40);
  } else if (kind <= 2) {
    square(3, 60);
  } else if (kind == 3) {  // depth-wise
    c.group = maker.Size(0, 200);
    c.in = 1;
    c.out = maker.r.Chance(0.8) ? 1 : 2;
    square(maker.r.Pick(std::vector<int64_t>{3, 3, 5, 7}), 70);
  } else if (kind == 4) {  // the first layer
    c.in = maker.r.Pick(std::vector<int64_t>{1, 3, 4});
    square(maker.r.Int(3, 7), 120);
  } else if (kind == 5) {  // sound
    AxisOf(maker, &c, maker.r.Int(1, 41), maker.r.Int(1, 3),
           maker.r.Chance(0.8) ? 1 : maker.r.Int(2, 4), 3000);
  } else {
    c.group = maker.r.Pick(std::vector<int64_t>{1, 2, 4, 8});
    c.in = maker.Size(0, 32);
    c.out = maker.Size(0, 32);
    for (int i = 0; i < 2; ++i) {
      AxisOf(maker, &c, maker.r.Int(1, 5), maker.r.Int(1, 3), maker.r.Chance(0.7) ? 1 : 2, 40);
    }
  }
  while (ProductsOf(c) > kMostProducts && c.batch > 1) --c.batch;
  while (ProductsOf(c) > kMostProducts && c.out > 1) c.out = (c.out + 1) / 2;
  while (ProductsOf(c) > kMostProducts && c.in > 1) c.in = (c.in + 1) / 2;
  Window& w = c.window;
  const bool padded = maker.r.Chance(0.7);
  for (int side = 0; side < 2; ++side) {
    for (size_t i = 0; i < w.size.size(); ++i) {
      w.pads.push_back(
          padded ? maker.r.Chance(0.8) ? w.kernel[i] / 2 : maker.r.Int(0, w.kernel[i] - 1) : 0);
    }
  }
  maker.c.terms = c.in * CountOf(w.kernel);
  return c;
}

// Sets the attributes; answers the shapes of x and of the weights.
inline std::pair<Dims, Dims> SetLargeConv(CaseMaker& maker) {
  const LargeConv c = MakeLargeConv(maker);
  if (c.group != 1) maker.Set("group", c.group);
  maker.Set("pads", c.window.pads);
  maker.Set("strides", c.window.strides);
  maker.Set("dilations", c.window.dilations);
  return {Cat({c.batch, c.in * c.group}, c.window.size),
          Cat({c.out * c.group, c.in}, c.window.kernel)};
}

// The window of a large pool.
inline Window LargePoolWindow(CaseMaker& maker) {
  Window w;
  const auto n = static_cast<size_t>(maker.r.Pick(std::vector<int64_t>{1, 2, 2, 2, 3}));
  Dims begin, end;
  for (size_t i = 0; i < n; ++i) {
    w.kernel.push_back(maker.r.Chance(0.7) ? maker.r.Int(1, 5) : maker.r.Int(6, n == 2 ? 14 : 7));
    w.strides.push_back(maker.r.Chance(0.4) ? 1
                                            : maker.r.Int(1, std::min<int64_t>(3, w.kernel[i])));
    w.dilations.push_back(maker.r.Chance(0.8) ? 1 : 2);
    begin.push_back(maker.r.Chance(0.5) ? 0 : maker.r.Int(0, w.kernel[i] / 2));
    end.push_back(maker.r.Chance(0.5) ? begin[i] : maker.r.Int(0, w.kernel[i] / 2));
    const int64_t most = n == 1 ? 5000 : n == 2 ? 130 : 24;
    w.size.push_back(std::max(Reach(w, i), maker.Size(0, most)));
  }
  w.pads = Cat(begin, end);
  return w;
}

// A layer with state: small weights keep states from saturating or running wild, so a wrong number
// shows and a rounding does not grow.
struct LargeLayer {
  int64_t steps, batch, in, hidden;
};
inline LargeLayer MakeLargeLayer(CaseMaker& maker, int64_t gates) {
  LargeLayer s{maker.r.Int(1, 5), maker.r.Chance(0.8) ? maker.r.Int(1, 24) : maker.Size(0, 70),
               maker.Size(0, 130), maker.Size(0, 130)};
  if (maker.r.Chance(0.5)) {  // weights of a state beside what is streamed
    int64_t hidden = 1;
    const int64_t streamed = maker.r.Chance(0.5) ? 262144 : 2 * 262144;  // by one thread, by two
    while (gates * hidden * hidden < streamed) ++hidden;
    s.hidden = std::max<int64_t>(1, hidden + maker.r.Int(-2, 2));
    if (maker.r.Chance(0.3)) s.in = s.hidden;
  }
  while (s.steps > 1 && s.steps * s.batch * gates * s.hidden * (s.in + s.hidden) > kMostProducts) {
    --s.steps;
  }
  const int64_t one = s.steps * gates * s.hidden * (s.in + s.hidden);
  s.batch = std::clamp<int64_t>(kMostProducts / one, 1, s.batch);
  maker.c.terms = s.in + s.hidden;
  return s;
}

// Weights of a layer in which exp and the like follow sums of `terms` products. A large case has
// small ones, since such a curve amplifies the roundings of large sums.
inline std::shared_ptr<HostTensor> TameWeight(CaseMaker& maker, const Dims& dims, int64_t terms) {
  const double most = maker.large ? std::min(1.0, 2 / std::sqrt(static_cast<double>(terms))) : 1.0;
  return maker.Numbers(maker.dtype(), dims, -most, most);
}

}  // namespace ge::test
