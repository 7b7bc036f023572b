#include <fmt/format.h>

#include <cmath>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferMaxRoiPool(InferContext& c) {
  const Type &x = c.input_type(0), &rois = c.input_type(1);
  const std::vector<int64_t>& shape = AttrInts(c.node(), "pooled_shape");
  if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1) {
    return Bad(c.node(), "attribute 'pooled_shape' must be a height and a width of at least 1");
  }
  const double scale = AttrFloat(c.node(), "spatial_scale");
  if (!std::isfinite(scale)) {
    return Bad(c.node(),
               fmt::format("attribute 'spatial_scale' is {}, wanted a finite number", scale));
  }
  if (x.ranked && x.rank() != 4) {
    return Bad(c.node(),
               fmt::format("input 'X' has shape {}, wanted N x C x H x W", Show(c.dims(), x.dims)));
  }
  const Dim count = rois.ranked && rois.rank() == 2 ? rois.dims[0] : c.FreshDim("rois", false);
  GE_RETURN_IF_ERROR(WantShape(c, 1, "rois", {{count, KnownDim(5)}}));
  return SetTensor(c, 0, x.dtype,
                   {count, x.ranked ? x.dims[1] : c.FreshDim("channels", false), KnownDim(shape[0]),
                    KnownDim(shape[1])});
}

OpDef MaxRoiPoolRecord() {
  OpDef op{"", "MaxRoiPool", 22, {}, {{"Y", kFloats, "T"}}, {}, InferMaxRoiPool, PerInput<1>};
  op.inputs = {{"X", kFloats, "T"}, {"rois", kFloats, "T"}};
  op.attrs = {{"pooled_shape", AttrKind::kInts, true}, {"spatial_scale", AttrKind::kFloat, 1.0f}};
  return op;
}

}  // namespace

// The largest element of each bin of each region [image, x1, y1, x2, y2]; 0 for an empty bin.
GE_OP(max_roi_pool) = MaxRoiPoolRecord();

}  // namespace ge
