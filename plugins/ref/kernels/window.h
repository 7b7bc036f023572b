// Geometry of sliding windows over the spatial dims of [N, C, spatial...], shared by Conv,
// ConvTranspose and the pools. Attributes are read once, auto_pad is resolved. Pure.
#pragma once

#include <algorithm>

#include "plugins/ref/checks.h"

namespace ref {

struct Window {
  int nd = 0;  // spatial dims
  int64_t in[kMaxRank], out[kMaxRank], kernel[kMaxRank];
  int64_t stride[kMaxRank], dilation[kMaxRank], pad[kMaxRank], pad_end[kMaxRank];
  int64_t in_step[kMaxRank];  // elements between neighbours along a dim
  int64_t in_count = 1, out_count = 1, kernel_count = 1;
};

// Keeps every product of a position and a step inside int64.
inline constexpr int64_t kWindowLimit = int64_t{1} << 30;

inline bool ReadList(const NodeView& n, const char* name, int nd, int64_t absent, int64_t least,
                     int64_t* out, Why* why) {
  const Ints list = n.List(name);
  if (!list.empty() && list.size() != static_cast<size_t>(nd)) {
    return why->Say(GE_WHY_ATTRIBUTE, "%s has %zu entries, %d are wanted", name, list.size(), nd);
  }
  for (int d = 0; d < nd; ++d) {
    out[d] = list.empty() ? absent : list[d];
    if (out[d] < least || out[d] > kWindowLimit) {
      return why->Say(GE_WHY_ATTRIBUTE, "%s[%d] is %lld, at least %lld is wanted", name, d,
                      static_cast<long long>(out[d]), static_cast<long long>(least));
    }
  }
  return true;
}

// `big` has the dims under the sliding window, `small` one entry a window. In ConvTranspose the
// output is the big one; it resolves its own pads. kernel: the spatial dims of W, or the attribute.
inline bool ReadWindow(const NodeView& n, const TensorType& big, const TensorType& small,
                       const int64_t* kernel, Window* window, Why* why) {
  window->nd = big.rank - 2;
  if (window->nd < 1 || small.rank != big.rank) {
    return why->Say(GE_WHY_SHAPE, "rank %d and %d where [N, C, spatial...] is wanted", big.rank,
                    small.rank);
  }
  const int nd = window->nd;
  int64_t pads[2 * kMaxRank];
  if (kernel == nullptr && n.List("kernel_shape").empty()) {
    return why->Say(GE_WHY_ATTRIBUTE, "kernel_shape is missing");
  }
  if (!ReadList(n, "kernel_shape", nd, 1, 1, window->kernel, why) ||
      !ReadList(n, "strides", nd, 1, 1, window->stride, why) ||
      !ReadList(n, "dilations", nd, 1, 1, window->dilation, why) ||
      !ReadList(n, "pads", 2 * nd, 0, -kWindowLimit, pads, why)) {
    return false;
  }
  for (int d = 0; d < nd; ++d) {
    if (kernel != nullptr) {
      if (!n.List("kernel_shape").empty() && window->kernel[d] != kernel[d]) {
        return why->Say(GE_WHY_ATTRIBUTE, "kernel_shape differs from the weight's shape");
      }
      window->kernel[d] = kernel[d];
    }
    window->in[d] = big.dims[d + 2];
    window->out[d] = small.dims[d + 2];
    if (window->in[d] > kWindowLimit || window->out[d] > kWindowLimit ||
        window->kernel[d] > kWindowLimit) {
      return why->Say(GE_WHY_SHAPE, "spatial dim %d is beyond 2^30", d);
    }
    window->in_count *= window->in[d];
    window->out_count *= window->out[d];
    window->pad[d] = pads[d];
    window->pad_end[d] = pads[d + nd];
    if (window->kernel[d] != 0 && window->kernel_count > kWindowLimit * 1024 / window->kernel[d]) {
      return why->Say(GE_WHY_SHAPE, "the window has more than 2^40 taps");
    }
    window->kernel_count *= window->kernel[d];
  }
  DenseStrides({window->in, static_cast<size_t>(nd)}, window->in_step);
  return true;
}

// Pads of auto_pad SAME_* and VALID, from the sizes.
inline bool ResolveAutoPad(const NodeView& n, Window* window, Why* why) {
  // Operators without auto_pad use their explicit pads.
  const std::string_view mode = n.Text("auto_pad", "NOTSET");
  if (mode == "NOTSET") return true;
  const bool upper = mode == "SAME_UPPER", lower = mode == "SAME_LOWER";
  if (!upper && !lower && mode != "VALID") {
    return why->Say(GE_WHY_ATTRIBUTE, "auto_pad is %.*s", static_cast<int>(mode.size()),
                    mode.data());
  }
  for (int d = 0; d < window->nd; ++d) {
    const int64_t reach = (window->out[d] - 1) * window->stride[d] +
                          (window->kernel[d] - 1) * window->dilation[d] + 1;
    const int64_t total = mode == "VALID" ? 0 : std::max<int64_t>(0, reach - window->in[d]);
    window->pad[d] = upper ? total / 2 : total - total / 2;
    window->pad_end[d] = total - window->pad[d];
  }
  return true;
}

// Taps of one dim inside [lo, hi) of the big tensor, for a window starting at `start`.
struct Taps {
  int64_t first, end;
};
inline Taps TapsIn(int64_t start, int64_t kernel, int64_t dilation, int64_t lo, int64_t hi) {
  const int64_t first = start >= lo ? 0 : (lo - start + dilation - 1) / dilation;
  const int64_t end = start >= hi ? 0 : (hi - start + dilation - 1) / dilation;
  return {std::min(first, kernel), std::max(std::min(end, kernel), std::min(first, kernel))};
}

// Visits the windows in row-major order of the small tensor: f(position, taps per dim) with taps
// inside the big one.
template <class F>
void ForEachWindow(const Window& window, F&& call) {
  int64_t at[kMaxRank] = {};
  Taps taps[kMaxRank];
  for (int d = 0; d < window.nd; ++d)
    taps[d] = TapsIn(-window.pad[d], window.kernel[d], window.dilation[d], 0, window.in[d]);
  for (int64_t i = 0; i < window.out_count; ++i) {
    call(i, static_cast<const int64_t*>(at), static_cast<const Taps*>(taps));
    Spend(1);
    for (int d = window.nd - 1; d >= 0; --d) {
      const bool carry = ++at[d] == window.out[d];
      if (carry) at[d] = 0;
      taps[d] = TapsIn(at[d] * window.stride[d] - window.pad[d], window.kernel[d],
                       window.dilation[d], 0, window.in[d]);
      if (!carry) break;
    }
  }
}

// Visits the elements under one window in row-major order, in runs along the last dim:
// f(first element, n, step).
template <class F>
void ForEachRun(const Window& window, const int64_t* at, const Taps* taps, F&& call) {
  const int last = window.nd - 1;
  int64_t tap[kMaxRank];
  int64_t offset = 0;
  for (int d = 0; d < window.nd; ++d) {
    if (taps[d].first >= taps[d].end) return;
    tap[d] = taps[d].first;
    offset += (at[d] * window.stride[d] - window.pad[d] + tap[d] * window.dilation[d]) *
              window.in_step[d];
  }
  while (true) {
    call(offset, taps[last].end - taps[last].first, window.dilation[last]);
    Spend(taps[last].end - taps[last].first);
    int d = last - 1;
    for (; d >= 0; --d) {
      offset += window.dilation[d] * window.in_step[d];
      if (++tap[d] < taps[d].end) break;
      offset -= (taps[d].end - taps[d].first) * window.dilation[d] * window.in_step[d];
      tap[d] = taps[d].first;
    }
    if (d < 0) return;
  }
}

}  // namespace ref
