#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferAffineGrid(InferContext& c) {
  const Type& theta = c.input_type(0);
  const auto size = Content(c, 1);
  const Type& given = c.input_type(1);
  int64_t axes = 0;  // of space; 0 = not known
  if (given.ranked && given.rank() == 1 && given.dims[0].known()) axes = given.dims[0].value - 2;
  if (size) axes = static_cast<int64_t>(size->size()) - 2;
  if ((given.ranked && given.rank() != 1) || (axes != 0 && axes != 2 && axes != 3)) {
    return Bad(c.node(), fmt::format("input 'size' has shape {}, wanted [4] (N, C, H, W) or [5] "
                                     "(N, C, D, H, W)",
                                     Show(c.dims(), given.dims)));
  }
  const bool known = theta.ranked && theta.rank() == 3 && theta.dims[1].known();
  if (axes == 0 && known && (theta.dims[1].value == 2 || theta.dims[1].value == 3)) {
    axes = theta.dims[1].value;
  }
  if (axes == 0) {
    c.SetOutput(0, UnrankedTensor(theta.dtype));
    return {};
  }
  const Dim batch = size ? (*size)[0] : c.FreshDim("batch", true);
  GE_RETURN_IF_ERROR(WantShape(c, 0, "theta", {{batch, KnownDim(axes), KnownDim(axes + 1)}}));
  std::vector<Dim> dims = {batch};
  for (int64_t i = 0; i < axes; ++i) {
    dims.push_back(size ? (*size)[static_cast<size_t>(i + 2)] : c.FreshDim("grid", true));
  }
  dims.push_back(KnownDim(axes));
  return SetTensor(c, 0, theta.dtype, std::move(dims));
}

OpDef AffineGridRecord() {
  OpDef op{"", "AffineGrid", 20, {}, {{"grid", kFloats, "T1"}}, {}, InferAffineGrid, PerOutput<8>};
  op.inputs = {{"theta", kFloats, "T1"}, {"size", Bit(DType::kInt64), "T2"}};
  op.attrs = {{"align_corners", AttrKind::kInt, 0}};
  return op;
}

}  // namespace

// The places of an image's pixels, -1 to 1 along each axis, moved by an affine map per instance.
GE_OP(affine_grid) = AffineGridRecord();

}  // namespace ge
