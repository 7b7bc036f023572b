// The plan of a convolution, shared by Conv, ConvInteger and QLinearConv: window, groups and
// channels, checked against the shapes. Pure.
#pragma once

#include "plugins/ref/kernels/window.h"

namespace ref {

struct ConvPlan {
  Window w{};
  int64_t batch, groups, in_channels, out_channels;  // channels of one group
};

// The image is input ix, the weight input iw. The caller adds a bias.
inline bool PlanConv(const NodeView& n, uint32_t ix, uint32_t iw, ConvPlan* plan, Why* why) {
  const TensorType x = n.in(ix), weight = n.in(iw), y = n.out(0);
  if (weight.rank != x.rank || x.rank < 3) {
    return why->Say(GE_WHY_SHAPE, "rank of X is %d, of W %d", x.rank, weight.rank);
  }
  if (!ReadWindow(n, x, y, weight.dims + 2, &plan->w, why) || !ResolveAutoPad(n, &plan->w, why)) {
    return false;
  }
  plan->groups = n.Int("group");
  plan->batch = x.dims[0];
  if (plan->groups < 1 || weight.dims[0] % plan->groups != 0 || x.dims[1] % plan->groups != 0 ||
      x.dims[1] / plan->groups != weight.dims[1] || y.dims[0] != x.dims[0] ||
      y.dims[1] != weight.dims[0]) {
    return why->Say(GE_WHY_SHAPE, "channels of X, W, Y and group do not fit");
  }
  plan->in_channels = weight.dims[1];
  plan->out_channels = weight.dims[0] / plan->groups;
  for (int d = 0; d < plan->w.nd; ++d) {
    const int64_t reach = (plan->w.kernel[d] - 1) * plan->w.dilation[d] + 1;
    const int64_t room = plan->w.in[d] + plan->w.pad[d] + plan->w.pad_end[d] - reach;
    if (plan->w.out[d] != (room < 0 ? 0 : room / plan->w.stride[d] + 1)) {
      return why->Say(GE_WHY_SHAPE, "spatial dim %d of the output is not what the operator gives",
                      d);
    }
  }
  return true;
}

}  // namespace ref
