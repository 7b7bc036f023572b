// Windows of planes of pixels: depth-wise convolutions and pools.
#include "plugins/cpu/native/conv/channel_sums.h"

#include <algorithm>
#include <array>
#include <optional>

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/conv/algorithm.h"
#include "plugins/cpu/native/price.h"
#include "plugins/cpu/native/window_axis.h"

namespace ge_engines::cpu::native {
namespace {

// Windows along three axes, the last of which makes lines.
struct Windows {
  WindowAxis depth, height, width;
  std::vector<WindowAxis::Run> runs;  // of the width

  static WindowAxis Of(const ConvShape& s, int i) {
    return WindowAxis(
        {s.src[i], s.dst[i], s.kernel[i], s.stride[i], s.dilation[i], s.pad[i], 0, false});
  }
  // Axis i of three of a pool, those that it has being the last ones.
  static WindowAxis Of(const Pool& p, size_t i) {
    const size_t n = p.window.size(), lead = 3 - n;
    if (i < lead) return WindowAxis({});
    const size_t k = i - lead;
    return WindowAxis({p.x[k + 2], p.result[k + 2], p.window[k], p.stride[k], p.dilation[k],
                       p.pad_begin[k], p.pad_end[k], p.count_pad});
  }
  explicit Windows(const ConvShape& s)
      : depth(Of(s, 0)), height(Of(s, 1)), width(Of(s, 2)), runs(width.Runs()) {}
  explicit Windows(const Pool& p)
      : depth(Of(p, 0)), height(Of(p, 1)), width(Of(p, 2)), runs(width.Runs()) {}

  int64_t lines() const { return depth.result * height.result; }
  int64_t src_pixels() const { return depth.dim * height.dim * width.dim; }

  // f(tap, offset) for each tap of the first window of a run in line `line` of the result; a tap's
  // number counts all taps of a window, offsets are pixels of the plane.
  template <class F>
  void ForTaps(int64_t line, const WindowAxis::Run& run, int64_t taps_h, int64_t taps_w,
               F f) const {
    const auto z = static_cast<size_t>(line / height.result);
    const auto y = static_cast<size_t>(line % height.result), x = static_cast<size_t>(run.first);
    for (int64_t a = depth.first[z]; a < depth.end[z]; ++a) {
      for (int64_t b = height.first[y]; b < height.end[y]; ++b) {
        const int64_t row = (depth.start[z] + a * depth.dilation) * height.dim + height.start[y] +
                            b * height.dilation;
        for (int64_t c = width.first[x]; c < width.end[x]; ++c) {
          f((a * taps_h + b) * taps_w + c, row * width.dim + width.start[x] + c * width.dilation);
        }
      }
    }
  }
  // Elements that the mean of a run's windows is over.
  int64_t Count(int64_t line, const WindowAxis::Run& run) const {
    return depth.count[static_cast<size_t>(line / height.result)] *
           height.count[static_cast<size_t>(line % height.result)] *
           width.count[static_cast<size_t>(run.first)];
  }
};

using Pointers = std::array<const float*, kMostTaps>;

class ChannelSums final : public Loop {
 public:
  ChannelSums(const Simd& simd, const ConvSpec& c, const Layout& x, const Layout& result,
              std::vector<TilePost> posts)
      : simd_(simd),
        shape_(c),
        windows_(shape_),
        planes_(x, result),
        padding_(result),
        posts_(std::move(posts)) {}

  void Run(float* const* p) const override {
    const int64_t lines = windows_.lines();
    const int64_t all = planes_.images * planes_.blocks * lines;
    const int64_t sums = all * windows_.width.result * planes_.channels * shape_.taps();
    ForRange(sums > kParallel, all, [&](int64_t i) { Line(p, i / lines, i % lines); });
    if (planes_.padded && !posts_.empty()) padding_.Zero(p[0]);
  }

 private:
  void Line(float* const* p, int64_t plane, int64_t line) const {
    const int64_t channels = planes_.channels, first = plane % planes_.blocks * channels;
    const int64_t stored = planes_.blocks * channels;  // of a tap's weights
    const float* x = p[1] + plane * windows_.src_pixels() * channels;
    const int64_t at = (plane * windows_.lines() + line) * windows_.width.result * channels;
    Pointers from, w;
    for (const WindowAxis::Run& run : windows_.runs) {
      size_t taps = 0;
      windows_.ForTaps(line, run, shape_.kernel[1], shape_.kernel[2],
                       [&](int64_t tap, int64_t offset) {
                         from[taps] = x + offset * channels;
                         w[taps++] = p[2] + tap * stored + first;
                       });
      simd_.channel_sums(from.data(), w.data(), static_cast<int64_t>(taps),
                         windows_.width.stride * channels, p[3] + first,
                         p[0] + at + run.first * channels, run.n, channels);
    }
    const int64_t floats = windows_.width.result * channels;
    FinishTile(simd_, posts_, p, 4, p[0] + at, 1, floats, floats);
  }

  const Simd& simd_;
  const ConvShape shape_;
  const Windows windows_;
  const ChannelPlanes planes_;
  const Padding padding_;
  const std::vector<TilePost> posts_;
};

class ChannelPools final : public Loop {
 public:
  ChannelPools(const Simd& simd, const Pool& pool, const Layout& x, const Layout& result)
      : simd_(simd), max_(pool.max), windows_(pool), planes_(x, result), padding_(result) {}

  void Run(float* const* p) const override {
    const int64_t lines = windows_.lines();
    const int64_t all = planes_.images * planes_.blocks * lines;
    ForRange(all * windows_.width.result * planes_.channels > kParallel, all,
             [&](int64_t i) { Line(p, i / lines, i % lines); });
    if (planes_.padded) padding_.Zero(p[0]);
  }

 private:
  void Line(float* const* p, int64_t plane, int64_t line) const {
    const int64_t channels = planes_.channels;
    const float* x = p[1] + plane * windows_.src_pixels() * channels;
    float* y = p[0] + (plane * windows_.lines() + line) * windows_.width.result * channels;
    Pointers from;
    for (const WindowAxis::Run& run : windows_.runs) {
      size_t taps = 0;
      windows_.ForTaps(line, run, 0, 0,
                       [&](int64_t, int64_t offset) { from[taps++] = x + offset * channels; });
      const int64_t count = windows_.Count(line, run);
      simd_.channel_pool(max_ ? Reduce::kMax : Reduce::kSum, from.data(),
                         static_cast<int64_t>(taps), windows_.width.stride * channels,
                         count == 0 ? 0.0f : 1.0f / static_cast<float>(count),
                         y + run.first * channels, run.n, channels);
    }
  }

  const Simd& simd_;
  const bool max_;
  const Windows windows_;
  const ChannelPlanes planes_;
  const Padding padding_;
};

}  // namespace

ChannelPlanes::ChannelPlanes(const Layout& x, const Layout& result)
    : images(x.dim[0]),
      blocks(x.cblock > 0 ? x.blocks() : 1),
      channels(x.cblock > 0 ? x.cblock : x.dim[1]),
      padded(result.padded()) {}

bool IsChannelWise(const ConvSpec& c) {
  const ConvShape s(c);
  return !c.transposed && s.groups >= 8 && s.in == 1 && s.out == 1 && s.taps() <= kMostTaps;
}

void PackChannelSums(const ConvSpec& c, int64_t channels, const float* w, float* to) {
  const ConvShape s(c);
  for (int64_t t = 0; t < s.taps(); ++t, to += channels) {
    for (int64_t g = 0; g < s.groups; ++g) to[g] = w[g * s.taps() + t];
    std::fill(to + s.groups, to + channels, 0.0f);
  }
}

double ChannelSumsNs(const ConvSpec& c, const Machine& m) {
  const ConvShape s(c);
  const auto count = [](int64_t n) { return static_cast<double>(n); };
  const double lanes = ByIsa(m, 16, 8, 4);
  const double lines = count(s.images * s.dst[0] * s.dst[1]);
  const double vectors = lines * count(s.dst[2] * s.groups) / lanes;
  const double ns =
      (vectors * count(s.taps()) * ByIsa(m, 0.3, 0.3, 0.5) + lines * (30 + 2 * count(s.taps()))) /
      m.compute;
  return m.threads > 1 && lines > 1 ? kForkNs + ns / (0.9 * m.threads) : ns;
}

std::unique_ptr<Loop> ChannelSumsLoop(const Simd& simd, const ConvSpec& c, const Layout& x,
                                      const Layout& result, std::vector<TilePost> posts) {
  return std::make_unique<ChannelSums>(simd, c, x, result, std::move(posts));
}

std::unique_ptr<Loop> ChannelPoolLoop(const Simd& simd, const Pool& pool, const Layout& x,
                                      const Layout& result) {
  return std::make_unique<ChannelPools>(simd, pool, x, result);
}

namespace {

class ChannelSumsAlgorithm final : public ConvAlgorithm {
 public:
  bool Takes(const ConvSpec& c, bool constants, const Machine&) const override {
    return constants && IsChannelWise(c);
  }
  std::optional<std::pair<Form, Form>> PreferredLayouts(const ConvSpec&) const override {
    return std::pair(Form{0, true}, Form{0, true});
  }
  bool AnyLayout(const Machine&) const override { return true; }
  Price PriceOf(const Unit& u, const ConvSpec& c, const Parser& p,
                const Machine& m) const override {
    Price out = TiledPrice(u, p, m, ChannelSumsNs(c, m));
    out.packed = PackedBound({Product(c.weights) / c.dst[1], c.dst[1]}, 0);
    return out;
  }
  void Emit(const Unit& u, const ConvSpec& c, NativeBuilder* b) const override {
    const Rep x = b->Lanes(u.in[0]);
    const Layout target = Layout::Like(u.dims, x.layout);
    const int64_t block = std::max(x.layout.cblock, 1);
    const int64_t channels = CeilDiv(c.dst[1], block) * block;
    const int64_t taps = ConvShape(c).taps();
    const uint64_t floats = static_cast<uint64_t>(taps * channels);
    const Place weights = b->Pack(
        {u.in[1]}, "channel sums " + ToText({c.dst[1], taps, channels}), floats * sizeof(float),
        [c, channels](const void* const* from, void* to) {
          PackChannelSums(c, channels, static_cast<const float*>(from[0]), static_cast<float*>(to));
        });
    std::vector<Place> reads = {x.place, weights, b->BiasOf(u, c.dst[1], channels)};
    std::vector<TilePost> posts = b->PostsOfTiles(u, target, &reads);
    const size_t taken = posts.size();
    b->AddTiled(u, taken, target, "channel sums " + b->Sizes(u.dims),
                ChannelSumsLoop(b->simd(), c, x.layout, target, std::move(posts)),
                std::move(reads));
  }
};

}  // namespace

const ConvAlgorithm& conv_channel_sums() {
  static const ChannelSumsAlgorithm kAlgorithm;
  return kAlgorithm;
}

}  // namespace ge_engines::cpu::native
