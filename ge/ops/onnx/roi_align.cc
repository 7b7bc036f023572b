#include <fmt/format.h>

#include <cmath>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status CheckRoiAlignAttrs(const Node& n) {
  const std::string_view mode = AttrString(n, "mode");
  if (mode != "avg" && mode != "max") {
    return Bad(n, fmt::format("attribute 'mode' is '{:.64}', wanted 'avg' or 'max'", mode));
  }
  const std::string_view where = AttrString(n, "coordinate_transformation_mode");
  if (where != "half_pixel" && where != "output_half_pixel") {
    return Bad(n, fmt::format("attribute 'coordinate_transformation_mode' is '{:.64}', wanted "
                              "'half_pixel' or 'output_half_pixel'",
                              where));
  }
  for (const char* name : {"output_height", "output_width"}) {
    const int64_t size = AttrInt(n, name);
    if (size < 1) return Bad(n, fmt::format("attribute '{}' is {}, wanted at least 1", name, size));
  }
  const int64_t ratio = AttrInt(n, "sampling_ratio");
  if (ratio < 0) {
    return Bad(n, fmt::format("attribute 'sampling_ratio' is {}, wanted 0 or more", ratio));
  }
  const double scale = AttrFloat(n, "spatial_scale");
  if (!std::isfinite(scale)) {
    return Bad(n, fmt::format("attribute 'spatial_scale' is {}, wanted a finite number", scale));
  }
  return {};
}

Status InferRoiAlign(InferContext& c) {
  const Type &x = c.input_type(0), &rois = c.input_type(1), &batch = c.input_type(2);
  GE_RETURN_IF_ERROR(CheckRoiAlignAttrs(c.node()));
  if (x.ranked && x.rank() != 4) {
    return Bad(c.node(),
               fmt::format("input 'X' has shape {}, wanted N x C x H x W", Show(c.dims(), x.dims)));
  }
  const bool by_batch = batch.ranked && batch.rank() == 1;
  const bool by_rois = rois.ranked && rois.rank() == 2;
  Dim count = by_batch ? batch.dims[0] : by_rois ? rois.dims[0] : c.FreshDim("rois", false);
  if (by_batch && by_rois) {
    GE_ASSIGN_OR_RETURN(count, SameDim(c, count, rois.dims[0], "the numbers of regions"));
  }
  GE_RETURN_IF_ERROR(WantShape(c, 1, "rois", {{count, KnownDim(4)}}));
  GE_RETURN_IF_ERROR(WantShape(c, 2, "batch_indices", {{count}}));
  return SetTensor(
      c, 0, x.dtype,
      {count, x.ranked ? x.dims[1] : c.FreshDim("channels", false),
       KnownDim(AttrInt(c.node(), "output_height")), KnownDim(AttrInt(c.node(), "output_width"))});
}

// Four weighted elements a sample.
Work EffortRoiAlign(const Node& node, std::span<const Type> in, std::span<const Type> out) {
  const int64_t ratio = AttrInt(node, "sampling_ratio");
  const double side = ratio > 0 ? static_cast<double>(ratio) : 2;
  return {out.empty() ? 0 : 8 * side * side * ElementsOf(out[0]), BytesOf(in, out)};
}

OpDef RoiAlignRecord() {
  OpDef op{"", "RoiAlign", 22, {}, {{"Y", kFloats, "T1"}}, {}, InferRoiAlign, EffortRoiAlign};
  op.inputs = {
      {"X", kFloats, "T1"}, {"rois", kFloats, "T1"}, {"batch_indices", Bit(DType::kInt64), "T2"}};
  op.attrs = {{"coordinate_transformation_mode", AttrKind::kString, "half_pixel"},
              {"mode", AttrKind::kString, "avg"},
              {"output_height", AttrKind::kInt, 1},
              {"output_width", AttrKind::kInt, 1},
              {"sampling_ratio", AttrKind::kInt, 0},
              {"spatial_scale", AttrKind::kFloat, 1.0f}};
  return op;
}

}  // namespace

// Mean or maximum of bilinear samples of each bin of each region [x1, y1, x2, y2].
GE_OP(roi_align) = RoiAlignRecord();

}  // namespace ge
