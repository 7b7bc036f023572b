// Exact convolution of 8-bit integers less their zero points, in plain loops, shared by ConvInteger
// and QLinearConv. Padding counts as the zero point, so it adds nothing. Pure.
#pragma once

#include "plugins/ref/kernels/conv.h"

namespace ref {

// Calls f(position in image, position in filter) for every tap of a window inside the image.
template <class F>
void ForEachTap(const Window& window, const int64_t* at, const Taps* taps, F&& call) {
  int64_t tap[kMaxRank];
  for (int d = 0; d < window.nd; ++d) {
    if (taps[d].first >= taps[d].end) return;
    tap[d] = taps[d].first;
  }
  while (true) {
    int64_t image = 0, filter = 0;
    for (int d = 0; d < window.nd; ++d) {
      image += (at[d] * window.stride[d] - window.pad[d] + tap[d] * window.dilation[d]) *
               window.in_step[d];
      filter = filter * window.kernel[d] + tap[d];
    }
    call(image, filter);
    int d = window.nd - 1;
    for (; d >= 0 && ++tap[d] == taps[d].end; --d) tap[d] = taps[d].first;
    if (d < 0) return;
  }
}

// Zero points; the filters' one for all (step 0) or one each (step 1).
template <class W>
struct ConvZeros {
  int64_t x = 0;
  const W* w = nullptr;  // nullptr = 0
  int64_t w_step = 0;
};

// sink(element of the output, filter, sum).
template <class X, class W, class Sink>
void IntegerConvolution(const ConvPlan& plan, const X* x, const W* w, const ConvZeros<W>& zeros,
                        Sink&& sink) {
  const Window& win = plan.w;
  for (int64_t b = 0; b < plan.batch * plan.groups; ++b) {
    const X* image = x + b * plan.in_channels * win.in_count;
    for (int64_t m = 0; m < plan.out_channels; ++m) {
      const int64_t filter = b % plan.groups * plan.out_channels + m;
      const W* weight = w + filter * plan.in_channels * win.kernel_count;
      const int64_t zero = zeros.w == nullptr ? 0 : zeros.w[filter * zeros.w_step];
      const int64_t to = (b * plan.out_channels + m) * win.out_count;
      ForEachWindow(win, [&](int64_t position, const int64_t* at, const Taps* taps) {
        int64_t sum = 0;
        ForEachTap(win, at, taps, [&](int64_t from, int64_t tap) {
          Spend(plan.in_channels);
          for (int64_t c = 0; c < plan.in_channels; ++c) {
            sum += (image[c * win.in_count + from] - zeros.x) *
                   (weight[c * win.kernel_count + tap] - zero);
          }
        });
        sink(to + position, filter, sum);
      });
    }
  }
}

template <class F>
bool VisitByte(int32_t dtype, F&& call) {
  if (dtype == GE_I8) return call(Tag<int8_t>()), true;
  if (dtype == GE_U8) return call(Tag<uint8_t>()), true;
  return false;
}

// Input i is one element or one a filter.
inline bool NeedOneOrFilters(const NodeView& n, uint32_t i, int64_t filters, Why* why) {
  const int64_t count = n.in(i).count;
  return count == 1 || count == filters ||
         why->Say(GE_WHY_SHAPE, "input %u has %lld elements, 1 or %lld are wanted", i,
                  static_cast<long long>(count), static_cast<long long>(filters));
}
inline bool NeedOne(const NodeView& n, uint32_t i, Why* why) {
  return NeedOneOrFilters(n, i, 1, why);
}

}  // namespace ref
