#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferGridSample(InferContext& c) {
  const Type &x = c.input_type(0), &grid = c.input_type(1);
  const std::string_view mode = AttrString(c.node(), "mode");
  if (mode != "linear" && mode != "nearest" && mode != "cubic") {
    return Bad(c.node(), fmt::format("attribute 'mode' is '{:.64}', wanted linear, nearest or "
                                     "cubic",
                                     mode));
  }
  const std::string_view pad = AttrString(c.node(), "padding_mode");
  if (pad != "zeros" && pad != "border" && pad != "reflection") {
    return Bad(c.node(), fmt::format("attribute 'padding_mode' is '{:.64}', wanted zeros, border "
                                     "or reflection",
                                     pad));
  }
  const std::string_view name = "GridSample: input 'X' (N x C x spatial)";
  GE_RETURN_IF_ERROR(WantRank(x, 3, name));
  GE_RETURN_IF_ERROR(WantRank(grid, 3, "GridSample: input 'grid' (N x spatial x axes)"));
  if (!x.ranked && !grid.ranked) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  const size_t rank = x.ranked ? x.rank() : grid.rank();
  if (grid.ranked) {
    std::vector<Dim> wanted = grid.dims;
    wanted.resize(rank, KnownDim(1));
    if (x.ranked) wanted[0] = x.dims[0];
    wanted.back() = KnownDim(static_cast<int64_t>(rank) - 2);
    GE_RETURN_IF_ERROR(WantShape(c, 1, "grid", wanted));
  }
  std::vector<Dim> dims;
  dims.push_back(x.ranked ? x.dims[0] : grid.dims[0]);
  dims.push_back(x.ranked ? x.dims[1] : c.FreshDim("channels", false));
  for (size_t i = 2; i < rank; ++i) {
    dims.push_back(grid.ranked ? grid.dims[i - 1] : c.FreshDim("sample", false));
  }
  return SetTensor(c, 0, x.dtype, std::move(dims));
}

// A multiply and an add for each tap of each axis' product.
Work EffortGridSample(const Node& node, std::span<const Type> in, std::span<const Type> out) {
  const std::string_view mode = AttrString(node, "mode");
  const double side = mode == "nearest" ? 1 : mode == "linear" ? 2 : 4;
  double taps = 1;
  for (size_t i = 2; !in.empty() && in[0].ranked && i < in[0].rank(); ++i) taps *= side;
  return {out.empty() ? 0 : 2 * taps * ElementsOf(out[0]), BytesOf(in, out)};
}

OpDef GridSampleRecord() {
  OpDef op{
      "", "GridSample", 22, {}, {{"Y", kClassic, "T1"}}, {}, InferGridSample, EffortGridSample};
  op.inputs = {{"X", kClassic, "T1"}, {"grid", kFloats, "T2"}};
  op.attrs = {{"align_corners", AttrKind::kInt, 0},
              {"mode", AttrKind::kString, "linear"},
              {"padding_mode", AttrKind::kString, "zeros"}};
  return op;
}

}  // namespace

// X interpolated at the places that the grid names, -1 to 1 along each axis, innermost axis first.
GE_OP(grid_sample) = GridSampleRecord();

}  // namespace ge
