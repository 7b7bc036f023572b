#include "plugins/units/resample/grid_sample.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseGridSample(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& s = u->spec.emplace<GridSpec>();
  if (n.n_in != 2 || n.in[1] == 0) return why->Say(GE_WHY_SHAPE, "needs two inputs");
  const Dims x = g.dims(n.in[0]), grid = g.dims(n.in[1]);
  if (x.size() != 4 || grid.size() != 4 || grid[0] != x[0] || grid[3] != 2 ||
      u->dims != Dims{x[0], x[1], grid[1], grid[2]}) {
    return why->Say(GE_WHY_SHAPE, "only images [N, C, H, W] with a grid [N, h, w, 2]");
  }
  const std::string_view mode = gp::AttrString(n, "mode");
  const std::string_view beyond = gp::AttrString(n, "padding_mode");
  if (mode != "linear" && mode != "nearest") {
    return why->Say(GE_WHY_ATTRIBUTE, "mode '" + std::string(mode) + "', only linear and nearest");
  }
  if (!Named(beyond, {"zeros", "border", "reflection"}, &s.beyond)) {
    return why->Say(GE_WHY_ATTRIBUTE, "a padding_mode that is not known");
  }
  s.nearest = mode == "nearest";
  s.corners = gp::AttrInt(n, "align_corners") != 0;
  u->in.push_back(n.in[1]);
  return true;
}

constexpr Operator kGridSampleOperators[] = {
    {"GridSample", ParseGridSample, Types::kFloat, 0},
};
}  // namespace

const UnitKind GridSpec::kKind = {.name = "grid_sample", .operators = kGridSampleOperators};

}  // namespace ge_engines
