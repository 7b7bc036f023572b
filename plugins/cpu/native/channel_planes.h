// ChannelPlanes: images with neighbouring channels as planes of pixels, and windows over them.
// Plain values; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "plugins/cpu/native/window_axis.h"
#include "plugins/units/layout.h"

namespace ge_engines::cpu::native {

// Images as planes of pixels with some channels each: channels last, or each block of channels.
struct ChannelPlanes {
  ChannelPlanes(const Layout& x, const Layout& result);
  int64_t images, blocks, channels;  // channels of a plane's pixel
  bool padded;                       // the last block has channels that are none
};

// Most taps of a window, and their addresses.
inline constexpr int64_t kMostTaps = 256;
using ChannelTaps = std::array<const float*, kMostTaps>;

// Windows along three axes; the last axis makes lines.
struct ChannelWindows {
  WindowAxis depth, height, width;
  std::vector<WindowAxis::Run> runs;  // of the width

  ChannelWindows(WindowAxis axis, WindowAxis window_axis, WindowAxis w)
      : depth(std::move(axis)),
        height(std::move(window_axis)),
        width(std::move(w)),
        runs(width.Runs()) {}

  int64_t lines() const { return depth.result * height.result; }
  int64_t src_pixels() const { return depth.dim * height.dim * width.dim; }

  // Calls f(tap, offset) for each tap of the first window of a run in the result's line `line`. Tap
  // numbers count all taps of a window; offsets are pixels of the plane.
  template <class F>
  void ForTaps(int64_t line, const WindowAxis::Run& run, int64_t taps_h, int64_t taps_w,
               F call) const {
    const auto z = static_cast<size_t>(line / height.result);
    const auto y = static_cast<size_t>(line % height.result), x = static_cast<size_t>(run.first);
    for (int64_t a = depth.first[z]; a < depth.end[z]; ++a) {
      for (int64_t b = height.first[y]; b < height.end[y]; ++b) {
        const int64_t row = (depth.start[z] + a * depth.dilation) * height.dim + height.start[y] +
                            b * height.dilation;
        for (int64_t c = width.first[x]; c < width.end[x]; ++c) {
          call((a * taps_h + b) * taps_w + c,
               row * width.dim + width.start[x] + c * width.dilation);
        }
      }
    }
  }
  // Number of elements in the mean of each window of a run.
  int64_t Count(int64_t line, const WindowAxis::Run& run) const {
    return depth.count[static_cast<size_t>(line / height.result)] *
           height.count[static_cast<size_t>(line % height.result)] *
           width.count[static_cast<size_t>(run.first)];
  }
};

}  // namespace ge_engines::cpu::native
