#include "ge/ops/known_ints.h"
#include "ge/ops/microsoft/checks.h"

namespace ge {
namespace {

// Height and width of a crop, from the content of crop_size.
Result<std::vector<Dim>> CropSizes(InferContext& c) {
  GE_RETURN_IF_ERROR(WantShape(c, 3, "crop_size", {{KnownDim(2)}}));
  const auto sizes = Content(c, 3);
  if (!sizes || sizes->size() != 2) {
    return std::vector<Dim>{c.FreshDim("crop", true), c.FreshDim("crop", true)};
  }
  for (const Dim size : *sizes) {
    if (!size.known() || size.value > 0) continue;
    return Bad(c.node(), fmt::format("input 'crop_size' is {}, wanted a height and a width of at "
                                     "least 1",
                                     Show(c.dims(), *sizes)));
  }
  return *sizes;
}

Status InferCropAndResize(InferContext& c) {
  const Node& n = c.node();
  const std::string_view mode = AttrString(n, "mode");
  if (mode != "bilinear" && mode != "nearest") {
    return Bad(n, fmt::format("attribute 'mode' is '{:.64}', wanted bilinear or nearest", mode));
  }
  GE_RETURN_IF_ERROR(WantRankOf(c, 0, "X", 4, 4));
  const Type &x = c.input_type(0), &rois = c.input_type(1), &images = c.input_type(2);
  const bool by_images = images.ranked && images.rank() == 1;
  const bool by_rois = rois.ranked && rois.rank() == 2;
  Dim count = by_images ? images.dims[0] : by_rois ? rois.dims[0] : c.FreshDim("rois", false);
  if (by_images && by_rois) {
    GE_ASSIGN_OR_RETURN(count, SameDim(c, count, rois.dims[0], "the numbers of regions"));
  }
  GE_RETURN_IF_ERROR(WantShape(c, 1, "rois", {{count, KnownDim(4)}}));
  GE_RETURN_IF_ERROR(WantShape(c, 2, "batch_indices", {{count}}));
  GE_ASSIGN_OR_RETURN(const std::vector<Dim> sizes, CropSizes(c));
  const Dim channels = x.ranked ? x.dims[1] : c.FreshDim("channels", false);
  return SetTensor(c, 0, x.dtype, {count, channels, sizes[0], sizes[1]});
}

OpDef CropAndResizeRecord() {
  constexpr DTypeSet kTypes = kFloats & ~Bit(DType::kBfloat16);
  OpDef op = MicrosoftRecord("CropAndResize", InferCropAndResize, nullptr);
  op.inputs = {{"X", kTypes, "T1"},
               {"rois", kTypes, "T1"},
               {"batch_indices", Bit(DType::kInt32), "T2"},
               {"crop_size", Bit(DType::kInt32), "T2"}};
  op.outputs = {{"Y", kTypes, "T1"}};
  op.attrs = {{"extrapolation_value", AttrKind::kFloat, 0.0f},
              {"mode", AttrKind::kString, "bilinear"}};
  return op;
}

}  // namespace

// Regions [y1, x1, y2, x2], 0 to 1 from the first to the last pixel, as images of one size.
GE_OP(microsoft_crop_and_resize) = CropAndResizeRecord();

}  // namespace ge
