#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// Input dim 2 must be the number of blocks, where all of it is known.
Status CheckBlocks(InferContext& c, const Window& w, std::span<const Dim> image) {
  std::optional<Dim> count = KnownDim(1);
  for (size_t i = 0; i < image.size(); ++i) {
    GE_ASSIGN_OR_RETURN(Dim d, WindowOutput(c.dims(), image[i], w, i, false));
    count = count ? c.dims().Mul(*count, d) : count;
  }
  GE_ASSIGN_OR_RETURN(Dim blocks, Checked(c.node(), count, "the number of blocks"));
  const Dim found = c.input_type(0).dims[2];
  if (!blocks.known() || !found.known() || blocks == found) return {};
  return Bad(c.node(), fmt::format("input 'input' has {} blocks, wanted {}: so many fit into the "
                                   "image of shape {}",
                                   found.value, blocks.value, Show(c.dims(), image)));
}

// C * block elements -> C.
Result<Dim> ColumnChannels(InferContext& c, const std::vector<int64_t>& block) {
  const Dim rows = c.input_type(0).dims[1];
  std::optional<Dim> size = KnownDim(1);
  for (int64_t b : block) size = size ? c.dims().Mul(*size, KnownDim(b)) : size;
  GE_ASSIGN_OR_RETURN(Dim area, Checked(c.node(), size, "the block's size"));
  if (rows.known() && rows.value % area.value != 0) {
    return Bad(c.node(), fmt::format("input 'input' has {} rows, wanted a multiple of {}: the "
                                     "elements of a block",
                                     rows.value, area.value));
  }
  return Checked(c.node(), c.dims().FloorDiv(rows, area), "the number of channels");
}

Status InferCol2Im(InferContext& c) {
  const Type& x = c.input_type(0);
  const auto image = Content(c, 1);
  const auto block = Numbers(c, 2);
  if (x.ranked && x.rank() != 3) {
    return Bad(c.node(), fmt::format("input 'input' has shape {}, wanted N x (C * block) x blocks",
                                     Show(c.dims(), x.dims)));
  }
  if (!image) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  std::vector<Dim> dims = {x.ranked ? x.dims[0] : c.FreshDim("batch", false), KnownDim(0)};
  dims.insert(dims.end(), image->begin(), image->end());
  for (const Dim& d : *image) {
    if (d.known() && d.value < 1) {
      return Bad(c.node(), fmt::format("input 'image_shape' is {}, wanted sizes of at least 1",
                                       Show(c.dims(), *image)));
    }
  }
  if (!block || !x.ranked) dims[1] = c.FreshDim("channels", true);
  if (block) {
    const auto fits = block->size() == image->size() && !block->empty();
    if (!fits) {
      return Bad(c.node(), fmt::format("input 'block_shape' has {} entries and 'image_shape' {}, "
                                       "wanted equally many, at least 1",
                                       block->size(), image->size()));
    }
    GE_ASSIGN_OR_RETURN(Window w, ReadWindow(c.node(), *image, *block));
    if (x.ranked) {
      GE_RETURN_IF_ERROR(CheckBlocks(c, w, *image));
      GE_ASSIGN_OR_RETURN(dims[1], ColumnChannels(c, *block));
    }
  }
  return SetTensor(c, 0, x.dtype, std::move(dims));
}

OpDef Col2ImRecord() {
  OpDef op{"", "Col2Im", 18, {}, {{"output", kClassic, "T"}}, {}, InferCol2Im, PerInput<1>};
  op.inputs = {{"input", kClassic, "T"},
               {"image_shape", Bit(DType::kInt64)},
               {"block_shape", Bit(DType::kInt64)}};
  op.attrs = {
      {"dilations", AttrKind::kInts}, {"pads", AttrKind::kInts}, {"strides", AttrKind::kInts}};
  return op;
}

}  // namespace

// The sum of overlapping blocks, each a column of the input, at their places in an image.
GE_OP(col2_im) = Col2ImRecord();

}  // namespace ge
