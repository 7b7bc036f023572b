#include "plugins/units/conv/col2_im.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

constexpr int64_t kLongestAxis = int64_t{1} << 30;

Dims ListOf(const ge_node& n, const char* name, size_t count, int64_t absent) {
  const auto list = gp::AttrInts(n, name);
  return list.size() == count ? Dims(list.begin(), list.end()) : Dims(count, absent);
}

bool ParseCol2Im(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const int32_t t = g.dtype(n.in[0]);
  if ((t != GE_F32 && t != GE_F64) || g.dtype(n.out[0]) != t) {
    return why->Say(GE_WHY_DTYPE, "only float32 and float64");
  }
  Col2ImSpec s;
  if (n.n_in != 3 || !g.Integers(n.in[1], &s.size) || !g.Integers(n.in[2], &s.block)) {
    return why->Say(GE_WHY_DYNAMIC, "image_shape or block_shape is not constant");
  }
  const Dims x = g.dims(n.in[0]), &y = u->dims;
  const size_t axes = s.size.size();
  if (x.size() != 3 || axes == 0 || y.size() != axes + 2 || s.block.size() != axes ||
      y[0] != x[0]) {
    return why->Say(GE_WHY_SHAPE, "wants x [N, C * block, blocks] and [N, C, spatial...]");
  }
  s.stride = ListOf(n, "strides", axes, 1);
  s.dilation = ListOf(n, "dilations", axes, 1);
  const Dims pads = ListOf(n, "pads", 2 * axes, 0);
  s.pad.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes));
  int64_t taps = 1, places = 1;
  for (size_t d = 0; d < axes; ++d) {
    bool fits = s.size[d] == y[d + 2] && s.stride[d] > 0 && s.dilation[d] > 0 && s.pad[d] >= 0 &&
                pads[axes + d] >= 0;
    for (int64_t v :
         {s.size[d], s.block[d], s.stride[d], s.dilation[d], s.pad[d], pads[axes + d]}) {
      fits = fits && v <= kLongestAxis;
    }
    if (!fits || s.block[d] < 1) return why->Say(GE_WHY_SHAPE, "an image, block or step misfits");
    const int64_t room =
        s.size[d] + s.pad[d] + pads[axes + d] - (s.block[d] - 1) * s.dilation[d] - 1;
    s.count.push_back(room < 0 ? 0 : room / s.stride[d] + 1);
    if (s.count[d] == 0 || taps > x[1] / s.block[d] || places > x[2] / s.count[d]) {
      return why->Say(GE_WHY_SHAPE, "the blocks do not fit the image and the input");
    }
    taps *= s.block[d];
    places *= s.count[d];
  }
  s.planes = x[0] * y[1];
  if (taps * y[1] != x[1] || places != x[2]) {
    return why->Say(GE_WHY_SHAPE, "the blocks do not fit the input");
  }
  u->spec = std::move(s);
  return true;
}

constexpr Operator kCol2ImOperators[] = {
    {"Col2Im", ParseCol2Im, Types::kAny, 0},
};
}  // namespace

const UnitKind Col2ImSpec::kKind = {.name = "col2_im", .operators = kCol2ImOperators};

}  // namespace ge_engines
