#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferSpaceToDepth(InferContext& c) {
  const Type& x = c.input_type(0);
  const int64_t block = AttrInt(c.node(), "blocksize");
  const std::string_view mode = AttrString(c.node(), "mode");
  // Its square must not overflow.
  if (block < 1 || block > (int64_t{1} << 30)) {
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
  std::vector<Dim> dims = x.dims;
  for (size_t d : {size_t{2}, size_t{3}}) {
    if (dims[d].known() && dims[d].value % block != 0) {
      return Bad(c.node(), fmt::format("input 'input' has size {} at axis {}, wanted a multiple of "
                                       "blocksize {}",
                                       dims[d].value, d, block));
    }
    GE_ASSIGN_OR_RETURN(
        dims[d], Checked(c.node(), c.dims().FloorDiv(dims[d], KnownDim(block)), "a spatial size"));
  }
  GE_ASSIGN_OR_RETURN(
      dims[1], Checked(c.node(), c.dims().Mul(dims[1], KnownDim(block * block)), "the channels"));
  return SetTensor(c, 0, x.dtype, std::move(dims));
}

}  // namespace

// Blocks of pixels become blocks of channels; DCR: the block index is the outer part of a channel.
GE_OP(space_to_depth) = {"",
                         "SpaceToDepth",
                         28,
                         {{"input", kClassic, "T"}},
                         {{"output", kClassic, "T"}},
                         {{"blocksize", AttrKind::kInt, true}, {"mode", AttrKind::kString, "DCR"}},
                         InferSpaceToDepth,
                         PerOutput<0>};

}  // namespace ge
