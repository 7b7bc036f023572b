#include "plugins/units/window.h"

#include <algorithm>

namespace ge_engines {

namespace {

Dims Or(gp::Span<int64_t> list, size_t n, int64_t absent) {
  return list.size() == n ? Dims(list.begin(), list.end()) : Dims(n, absent);
}

// Strides, dilations and both paddings of a sliding window, auto_pad resolved against the result's
// dims. For a transposed convolution src and dst change roles; a stated output_shape makes its
// pads, whatever `pads` says, and what output_padding adds counts as cut.
bool Window(const ge_node& n, const Dims& src, const Dims& dst, const Dims& kernel, bool transposed,
            Dims* stride, Dims* dilation, Dims* pad_l, Dims* pad_r, Why* why) {
  const size_t s = kernel.size();
  *stride = Or(gp::AttrInts(n, "strides"), s, 1);
  *dilation = Or(gp::AttrInts(n, "dilations"), s, 1);
  const auto pads = gp::AttrInts(n, "pads");
  const std::string_view mode = gp::AttrString(n, "auto_pad");
  const bool upper = mode == "SAME_UPPER";
  const bool made =
      upper || mode == "SAME_LOWER" || (transposed && gp::AttrInts(n, "output_shape").size() == s);
  const Dims more = transposed ? Or(gp::AttrInts(n, "output_padding"), s, 0) : Dims(s, 0);
  const Dims& in = transposed ? dst : src;
  const Dims& out = transposed ? src : dst;
  pad_l->assign(s, 0);
  pad_r->assign(s, 0);
  for (size_t k = 0; k < s; ++k) {
    if ((*stride)[k] < 1 || (*dilation)[k] < 1 || kernel[k] < 1) {
      return why->Say(GE_WHY_ATTRIBUTE, "stride, dilation or kernel below 1");
    }
    const int64_t span = (kernel[k] - 1) * (*dilation)[k] + 1;
    const int64_t need = (out[k + 2] - 1) * (*stride)[k] + span - in[k + 2];
    if (made) {
      const int64_t total = std::max<int64_t>(need + more[k], 0);
      (*pad_l)[k] = upper ? total / 2 : total - total / 2;
    } else if (mode == "NOTSET" && pads.size() == 2 * s) {
      (*pad_l)[k] = pads[k];
    }
    // What the result's shape implies; a window that ends before the border leaves it negative.
    (*pad_r)[k] = need - (*pad_l)[k];
    if ((*pad_l)[k] < 0 || (*pad_l)[k] >= span + (transposed ? in[k + 2] : 0)) {
      return why->Say(GE_WHY_ATTRIBUTE, "padding is negative or not smaller than the kernel");
    }
  }
  return true;
}

}  // namespace

bool WindowOf(const ge_node& n, const Dims& src, const Dims& dst, const Dims& kernel, Dims* stride,
              Dims* dilation, Dims* pad_l, Dims* pad_r, Why* why) {
  return Window(n, src, dst, kernel, false, stride, dilation, pad_l, pad_r, why);
}

bool TransposedWindowOf(const ge_node& n, const Dims& src, const Dims& dst, const Dims& kernel,
                        Dims* stride, Dims* dilation, Dims* pad_l, Dims* pad_r, Why* why) {
  return Window(n, src, dst, kernel, true, stride, dilation, pad_l, pad_r, why);
}

bool HasEvenPads(const Dims& src, const Dims& dst, const Dims& reach, const Dims& stride,
                 const Dims& pad_l) {
  for (size_t k = 0; k < stride.size(); ++k) {
    const int64_t room = src[k + 2] + 2 * pad_l[k] - reach[k];
    if (room < 0 || room / stride[k] + 1 != dst[k + 2]) return false;
  }
  return true;
}

}  // namespace ge_engines
