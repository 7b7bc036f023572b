#include "plugins/cpu/native/reduce/channel_pool.h"

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/channel_planes.h"

namespace ge_engines::cpu::native {
namespace {

// Axis i of three of a pool, those that it has being the last ones.
WindowAxis PoolAxisOf(const Pool& p, size_t i) {
  const size_t n = p.window.size(), lead = 3 - n;
  if (i < lead) return WindowAxis({});
  const size_t k = i - lead;
  return WindowAxis({p.x[k + 2], p.result[k + 2], p.window[k], p.stride[k], p.dilation[k],
                     p.pad_begin[k], p.pad_end[k], p.count_pad});
}

class ChannelPools final : public Loop {
 public:
  ChannelPools(const Simd& simd, const Pool& pool, const Layout& x, const Layout& result)
      : simd_(simd),
        max_(pool.max),
        windows_(PoolAxisOf(pool, 0), PoolAxisOf(pool, 1), PoolAxisOf(pool, 2)),
        planes_(x, result),
        padding_(result) {}

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
    ChannelTaps from;
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
  const ChannelWindows windows_;
  const ChannelPlanes planes_;
  const Padding padding_;
};

}  // namespace

std::unique_ptr<Loop> ChannelPoolLoop(const Simd& simd, const Pool& pool, const Layout& x,
                                      const Layout& result) {
  return std::make_unique<ChannelPools>(simd, pool, x, result);
}

}  // namespace ge_engines::cpu::native
