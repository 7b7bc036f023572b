#include "plugins/units/resample/roi_align.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

bool ParseRoiAlign(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (n.n_in != 3 || n.in[1] == 0 || n.in[2] == 0) {
    return why->Say(GE_WHY_SHAPE, "needs three inputs");
  }
  if (g.dtype(n.in[0]) != GE_F32 || g.dtype(n.in[1]) != GE_F32 || g.dtype(n.in[2]) != GE_I64) {
    return why->Say(GE_WHY_DTYPE, "only float32, with int64 indices");
  }
  if (gp::AttrString(n, "mode") != "avg") return why->Say(GE_WHY_ATTRIBUTE, "only means");
  const Dims x = g.dims(n.in[0]), rois = g.dims(n.in[1]);
  const bool fits = x.size() == 4 && rois.size() == 2 && rois[1] == 4 && u->dims.size() == 4 &&
                    u->dims[0] == rois[0] && u->dims[1] == x[1] && g.dims(n.in[2]) == Dims{rois[0]};
  if (!fits) return why->Say(GE_WHY_SHAPE, "wants X [N, C, H, W], rois [R, 4], indices [R]");
  RoiAlignSpec s;
  s.rois = rois[0];
  s.batch = x[0];
  s.channels = x[1];
  s.height = x[2];
  s.width = x[3];
  s.out_height = u->dims[2];
  s.out_width = u->dims[3];
  s.ratio = gp::AttrInt(n, "sampling_ratio");
  s.scale = gp::AttrFloat(n, "spatial_scale");
  const std::string_view where = gp::AttrString(n, "coordinate_transformation_mode");
  s.half_pixel = where == "half_pixel";
  if (s.ratio < 0 || (!s.half_pixel && where != "output_half_pixel")) {
    return why->Say(GE_WHY_ATTRIBUTE, "a mode that is not known");
  }
  u->spec = s;
  u->in = {n.in[0], n.in[1], n.in[2]};
  return true;
}

constexpr Operator kRoiAlignOperators[] = {
    {"RoiAlign", ParseRoiAlign, Types::kAny, 0},
};
}  // namespace

const UnitKind RoiAlignSpec::kKind = {.name = "roi_align", .operators = kRoiAlignOperators};

}  // namespace ge_engines
