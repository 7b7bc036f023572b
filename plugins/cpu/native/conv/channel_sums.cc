#include "plugins/cpu/native/conv/channel_sums.h"

#include <algorithm>
#include <array>
#include <optional>

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/channel_planes.h"
#include "plugins/cpu/native/conv/algorithm.h"
#include "plugins/cpu/native/price.h"
#include "plugins/cpu/native/window_axis.h"

namespace ge_engines::cpu::native {
namespace {

WindowAxis AxisOf(const ConvShape& s, int i) {
  return WindowAxis(
      {s.src[i], s.dst[i], s.kernel[i], s.stride[i], s.dilation[i], s.pad[i], 0, false});
}

class ChannelSums final : public Loop {
 public:
  ChannelSums(const Simd& simd, const ConvSpec& c, const Layout& x, const Layout& result,
              std::vector<TilePostOp> post_ops)
      : simd_(simd),
        shape_(c),
        windows_(AxisOf(shape_, 0), AxisOf(shape_, 1), AxisOf(shape_, 2)),
        planes_(x, result),
        padding_(result),
        post_ops_(std::move(post_ops)) {}

  void Run(float* const* p) const override {
    const int64_t lines = windows_.lines();
    const int64_t all = planes_.images * planes_.blocks * lines;
    const int64_t sums = all * windows_.width.result * planes_.channels * shape_.taps();
    ForRange(sums > kParallel, all, [&](int64_t i) { Line(p, i / lines, i % lines); });
    if (planes_.padded && !post_ops_.empty()) padding_.Zero(p[0]);
  }

 private:
  void Line(float* const* p, int64_t plane, int64_t line) const {
    const int64_t channels = planes_.channels, first = plane % planes_.blocks * channels;
    const int64_t stored = planes_.blocks * channels;  // of a tap's weights
    const float* x = p[1] + plane * windows_.src_pixels() * channels;
    const int64_t at = (plane * windows_.lines() + line) * windows_.width.result * channels;
    ChannelTaps from, w;
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
    FinishTile(simd_, post_ops_, p, 4, p[0] + at, 1, floats, floats);
  }

  const Simd& simd_;
  const ConvShape shape_;
  const ChannelWindows windows_;
  const ChannelPlanes planes_;
  const Padding padding_;
  const std::vector<TilePostOp> post_ops_;
};

}  // namespace

bool IsChannelWise(const ConvSpec& spec) {
  const ConvShape s(spec);
  return !spec.transposed && s.groups >= 8 && s.in == 1 && s.out == 1 && s.taps() <= kMostTaps;
}

void PackChannelSums(const ConvSpec& spec, int64_t channels, const float* w, float* to) {
  const ConvShape s(spec);
  for (int64_t t = 0; t < s.taps(); ++t, to += channels) {
    for (int64_t g = 0; g < s.groups; ++g) to[g] = w[g * s.taps() + t];
    std::fill(to + s.groups, to + channels, 0.0f);
  }
}

double ChannelSumsNs(const ConvSpec& spec, const Machine& machine) {
  const ConvShape s(spec);
  const auto count = [](int64_t n) { return static_cast<double>(n); };
  const double lanes = ByIsa(machine, 16, 8, 4);
  const double lines = count(s.images * s.dst[0] * s.dst[1]);
  const double vectors = lines * count(s.dst[2] * s.groups) / lanes;
  const double ns = (vectors * count(s.taps()) * ByIsa(machine, 0.3, 0.3, 0.5) +
                     lines * (30 + 2 * count(s.taps()))) /
                    machine.compute;
  return machine.threads > 1 && lines > 1 ? kForkNs + ns / (0.9 * machine.threads) : ns;
}

std::unique_ptr<Loop> ChannelSumsLoop(const Simd& simd, const ConvSpec& spec, const Layout& x,
                                      const Layout& result, std::vector<TilePostOp> post_ops) {
  return std::make_unique<ChannelSums>(simd, spec, x, result, std::move(post_ops));
}

namespace {

class ChannelSumsAlgorithm final : public ConvAlgorithm {
 public:
  bool Takes(const ConvSpec& spec, bool constants, const Machine&) const override {
    return constants && IsChannelWise(spec);
  }
  std::optional<std::pair<LayoutTag, LayoutTag>> PreferredLayouts(const ConvSpec&) const override {
    return std::pair(LayoutTag{0, true}, LayoutTag{0, true});
  }
  bool AnyLayout(const Machine&) const override { return true; }
  Price PriceOf(const Unit& unit, const ConvSpec& spec, const Parser& parser,
                const Machine& machine) const override {
    Price out = TiledPrice(unit, parser, machine, ChannelSumsNs(spec, machine));
    out.packed = PackedBound({Product(spec.weights) / spec.dst[1], spec.dst[1]}, 0);
    return out;
  }
  void Emit(const Unit& unit, const ConvSpec& spec, NativeBuilder* builder) const override {
    const Rep x = builder->Lanes(unit.in[0]);
    const Layout target = Layout::Like(unit.dims, x.layout);
    const int64_t block = std::max(x.layout.cblock, 1);
    const int64_t channels = CeilDiv(spec.dst[1], block) * block;
    const int64_t taps = ConvShape(spec).taps();
    const uint64_t floats = static_cast<uint64_t>(taps * channels);
    const BufferRef weights =
        builder->Pack({unit.in[1]}, "channel sums " + ToText({spec.dst[1], taps, channels}),
                      floats * sizeof(float), [spec, channels](const void* const* from, void* to) {
                        PackChannelSums(spec, channels, static_cast<const float*>(from[0]),
                                        static_cast<float*>(to));
                      });
    std::vector<BufferRef> reads = {x.place, weights, builder->BiasOf(unit, spec.dst[1], channels)};
    std::vector<TilePostOp> post_ops = builder->PostOpsOfTiles(unit, target, &reads);
    const size_t taken = post_ops.size();
    builder->AddTiled(unit, taken, target, "channel sums " + builder->Sizes(unit.dims),
                      ChannelSumsLoop(builder->simd(), spec, x.layout, target, std::move(post_ops)),
                      std::move(reads));
  }
};

}  // namespace

const ConvAlgorithm& conv_channel_sums() {
  static const ChannelSumsAlgorithm kAlgorithm;
  return kAlgorithm;
}

}  // namespace ge_engines::cpu::native
