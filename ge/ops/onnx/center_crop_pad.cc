#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferCenterCropPad(InferContext& c) {
  const Type& x = c.input_type(0);
  if (!x.ranked) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  std::vector<int64_t> axes;
  if (HasAttr(c.node(), "axes")) {
    GE_ASSIGN_OR_RETURN(
        axes, NormalizeAxes(c.node(), AttrInts(c.node(), "axes"), static_cast<int64_t>(x.rank())));
  } else {
    for (size_t a = 0; a < x.rank(); ++a) axes.push_back(static_cast<int64_t>(a));
  }
  const Dim count = KnownDim(static_cast<int64_t>(axes.size()));
  GE_RETURN_IF_ERROR(WantShape(c, 1, "shape", std::span(&count, 1)));
  const auto sizes = Content(c, 1);
  const bool known = sizes && sizes->size() == axes.size();
  std::vector<Dim> dims = x.dims;
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& size = dims[static_cast<size_t>(axes[i])];
    size = known ? (*sizes)[i] : c.FreshDim("crop", true);
    if (size.known() && size.value < 0) {
      return Bad(c.node(), fmt::format("input 'shape' holds {}, wanted 0 or more", size.value));
    }
  }
  return SetTensor(c, 0, x.dtype, std::move(dims));
}

}  // namespace

// Some axes cut, or filled up with zeros, about their middle to given sizes.
GE_OP(center_crop_pad) = {"",
                          "CenterCropPad",
                          18,
                          {{"input_data", kClassic, "T"}, {"shape", kIndex, "Tind"}},
                          {{"output_data", kClassic, "T"}},
                          {{"axes", AttrKind::kInts}},
                          InferCenterCropPad,
                          PerOutput<0>};

}  // namespace ge
