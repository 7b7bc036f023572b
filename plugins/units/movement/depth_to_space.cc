#include "plugins/units/movement/depth_to_space.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

// DepthToSpace and SpaceToDepth: blocks of pixels, and channels [block row][block column][channel],
// or with the channel first.
bool ParseBlocks(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  const bool to_space = gp::View(n.op) == "DepthToSpace";
  const int64_t b = gp::AttrInt(n, "blocksize");
  const Dims x = g.dims(n.in[0]), y = u->dims;
  if (g.dtype(n.in[0]) != g.dtype(n.out[0])) {
    return why->Say(GE_WHY_DTYPE, "input and output differ");
  }
  if (x.size() != 4 || y.size() != 4 || b < 1) return why->Say(GE_WHY_SHAPE, "no images");
  const Dims &fine = to_space ? y : x, &coarse = to_space ? x : y;
  const bool fits = fine[0] == coarse[0] && fine[2] / b == coarse[2] && fine[3] / b == coarse[3] &&
                    fine[2] % b == 0 && fine[3] % b == 0 && coarse[1] % (b * b) == 0 &&
                    coarse[1] / (b * b) == fine[1];
  if (!fits) return why->Say(GE_WHY_SHAPE, "the block size does not fit");
  const bool depth_first = gp::AttrString(n, "mode") != "CRD";
  const int64_t c = fine[1], in_row = depth_first ? c : 1, row = in_row * b;
  const int64_t channel = depth_first ? 1 : b * b;
  const int64_t line = y[3], plane = y[2] * line, image = y[1] * plane;
  auto& axes = u->spec.emplace<MoveSpec>().axes;
  if (to_space) {
    axes = {{x[0], 0, 1, image}, {c, 1, channel, plane}, {x[2], 2, 1, b * line},
            {b, 1, row, line},   {x[3], 3, 1, b},        {b, 1, in_row, 1}};
  } else {
    axes = {{x[0], 0, 1, image},        {b, 2, 1, row * plane}, {b, 3, 1, in_row * plane},
            {c, 1, 1, channel * plane}, {y[2], 2, b, line},     {y[3], 3, b, 1}};
  }
  return true;
}

constexpr Operator kDepthToSpaceOperators[] = {
    {"DepthToSpace", ParseBlocks, Types::kWord},
    {"SpaceToDepth", ParseBlocks, Types::kWord},
};
}  // namespace

const UnitKind MoveSpec::kKind = {.name = "depth_to_space", .operators = kDepthToSpaceOperators};

}  // namespace ge_engines
