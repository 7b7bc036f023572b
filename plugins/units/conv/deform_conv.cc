#include "plugins/units/conv/deform_conv.h"

#include <algorithm>

#include "plugins/units/parser.h"
#include "plugins/units/window.h"

namespace ge_engines {

namespace {

bool ParseDeformConv(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (n.n_in < 3 || n.in[1] == 0 || n.in[2] == 0) {
    return why->Say(GE_WHY_SHAPE, "needs weights and offsets");
  }
  const Dims x = g.dims(n.in[0]), w = g.dims(n.in[1]), &y = u->dims;
  if (x.size() != 4 || w.size() != 4 || y.size() != 4) {
    return why->Say(GE_WHY_SHAPE, "only images of two axes");
  }
  DeformConvSpec s;
  Dims stride, dilation, pad_l, pad_r;
  if (!WindowOf(n, x, y, {w[2], w[3]}, &stride, &dilation, &pad_l, &pad_r, why)) return false;
  // It has no auto_pad.
  const auto pads = gp::AttrInts(n, "pads");
  if (pads.size() == 4) pad_l = {pads[0], pads[1]};
  for (size_t d = 0; d < 2; ++d) {
    if (pad_l[d] < 0) return why->Say(GE_WHY_ATTRIBUTE, "a negative pad");
    s.src[d] = x[d + 2];
    s.dst[d] = y[d + 2];
    s.kernel[d] = w[d + 2];
    s.stride[d] = stride[d];
    s.dilation[d] = dilation[d];
    s.pad[d] = pad_l[d];
  }
  s.images = x[0];
  s.groups = gp::AttrInt(n, "group");
  s.offset_groups = gp::AttrInt(n, "offset_group");
  if (s.groups < 1 || s.offset_groups < 1 || w[0] % s.groups != 0 || x[1] % s.groups != 0 ||
      x[1] % s.offset_groups != 0 || x[1] / s.groups != w[1] || y[0] != x[0] || y[1] != w[0]) {
    return why->Say(GE_WHY_SHAPE, "channels, filters and groups do not fit");
  }
  s.in = w[1];
  s.out = w[0] / s.groups;
  s.bias = n.n_in > 3 && n.in[3] != 0;
  s.mask = n.n_in > 4 && n.in[4] != 0;
  const int64_t shared = s.offset_groups * s.taps();
  if (g.dims(n.in[2]) != Dims{x[0], 2 * shared, y[2], y[3]} ||
      (s.bias && g.dims(n.in[3]) != Dims{w[0]}) ||
      (s.mask && g.dims(n.in[4]) != Dims{x[0], shared, y[2], y[3]})) {
    return why->Say(GE_WHY_SHAPE, "offsets, bias or mask do not fit");
  }
  u->in = {n.in[0], n.in[1], n.in[2]};
  if (s.bias) u->in.push_back(n.in[3]);
  if (s.mask) u->in.push_back(n.in[4]);
  u->spec = s;
  return true;
}

constexpr Operator kDeformConvOperators[] = {
    {"DeformConv", ParseDeformConv, Types::kFloat, 0},
};
}  // namespace

const UnitKind DeformConvSpec::kKind = {.name = "deform_conv", .operators = kDeformConvOperators};

}  // namespace ge_engines
