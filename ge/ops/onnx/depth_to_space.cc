#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// Blocks beyond this overflow when squared, and no tensor has them.
constexpr int64_t kMostBlock = int64_t{1} << 30;

Status InferDepthToSpace(InferContext& c) {
  const Type& x = c.input_type(0);
  const int64_t block = AttrInt(c.node(), "blocksize");
  const std::string_view mode = AttrString(c.node(), "mode");
  if (block < 1 || block > kMostBlock) {
    return Bad(c.node(), fmt::format("attribute 'blocksize' is {}, wanted 1 or more", block));
  }
  if (mode != "DCR" && mode != "CRD") {
    return Bad(c.node(), fmt::format("attribute 'mode' is '{:.64}', wanted DCR or CRD", mode));
  }
  if (!x.ranked) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  if (x.rank() != 4) {
    return Bad(c.node(), "input 'input' has shape " + Show(c.dims(), x.dims) +
                             ", wanted rank 4: [N, C, H, W]");
  }
  if (x.dims[1].known() && x.dims[1].value % (block * block) != 0) {
    return Bad(c.node(), fmt::format("input 'input' has {} channels, wanted a multiple of {}: the "
                                     "square of blocksize",
                                     x.dims[1].value, block * block));
  }
  DimTable& d = c.dims();
  const Dim by = KnownDim(block);
  std::vector<Dim> dims = x.dims;
  GE_ASSIGN_OR_RETURN(
      dims[1], Checked(c.node(), d.FloorDiv(dims[1], KnownDim(block * block)), "the channels"));
  GE_ASSIGN_OR_RETURN(dims[2], Checked(c.node(), d.Mul(dims[2], by), "the height"));
  GE_ASSIGN_OR_RETURN(dims[3], Checked(c.node(), d.Mul(dims[3], by), "the width"));
  return SetTensor(c, 0, x.dtype, std::move(dims));
}

}  // namespace

// Blocks of channels become blocks of pixels; DCR: the block index is the outer part of a channel.
GE_OP(depth_to_space) = {"",
                         "DepthToSpace",
                         28,
                         {{"input", kClassic, "T"}},
                         {{"output", kClassic, "T"}},
                         {{"blocksize", AttrKind::kInt, true}, {"mode", AttrKind::kString, "DCR"}},
                         InferDepthToSpace,
                         PerOutput<0>};

}  // namespace ge
