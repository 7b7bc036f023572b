#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// Channels, groups and the bias fit each other.
Status CheckChannels(InferContext& c) {
  const Type& x = c.input_type(0);
  const Type& w = c.input_type(1);
  const int64_t group = AttrInt(c.node(), "group", 1);
  if (group < 1) {
    return Bad(c.node(), fmt::format("attribute 'group' is {}, wanted at least 1", group));
  }
  const Dim filters = w.dims[0];
  if (filters.known() && filters.value % group != 0) {
    return Bad(c.node(), fmt::format("input 'W' has {} filters, wanted a multiple of group {}",
                                     filters.value, group));
  }
  GE_ASSIGN_OR_RETURN(Dim wanted, Checked(c.node(), c.dims().Mul(w.dims[1], KnownDim(group)),
                                          "the number of channels"));
  if (x.ranked && x.dims[1].known() && wanted.known() && x.dims[1] != wanted) {
    return Bad(c.node(),
               fmt::format("input 'X' has {} channels, wanted {}: 'W' has {} channels "
                           "times group {}",
                           x.dims[1].value, wanted.value, c.dims().ToString(w.dims[1]), group));
  }
  if (c.input_count() > 2 && c.has_input(2)) {
    GE_RETURN_IF_ERROR(WantShape(c, 2, "B", {{filters}}));
  }
  return {};
}

// The kernel from the attribute or from the weight's shape; empty when neither is known.
Result<std::vector<int64_t>> Kernel(InferContext& c) {
  const Type& w = c.input_type(1);
  std::vector<int64_t> kernel = AttrInts(c.node(), "kernel_shape");
  const size_t axes = w.rank() - 2;
  if (!kernel.empty() && kernel.size() != axes) {
    return Bad(c.node(), fmt::format("attribute 'kernel_shape' has {} entries, wanted {}: 'W' has "
                                     "shape {}",
                                     kernel.size(), axes, Show(c.dims(), w.dims)));
  }
  const bool given = !kernel.empty();
  for (size_t i = 0; i < axes; ++i) {
    const Dim d = w.dims[2 + i];
    if (!d.known() && !given) return std::vector<int64_t>();
    if (!given) kernel.push_back(d.value);
    if (d.known() && d.value != kernel[i]) {
      return Bad(c.node(), fmt::format("attribute 'kernel_shape' has {} for axis {}, wanted {}: "
                                       "'W' has shape {}",
                                       kernel[i], i, d.value, Show(c.dims(), w.dims)));
    }
  }
  return kernel;
}

Status InferConv(InferContext& c) {
  const Type& x = c.input_type(0);
  const Type& w = c.input_type(1);
  GE_RETURN_IF_ERROR(WantRank(x, 3, "Conv: input 'X' (N x C x spatial)"));
  GE_RETURN_IF_ERROR(WantRank(w, 3, "Conv: input 'W' (filters x C / group x kernel)"));
  if (!w.ranked) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  if (x.ranked && x.rank() != w.rank()) {
    return Bad(c.node(), fmt::format("input 'X' has shape {} and 'W' {}, wanted equal ranks",
                                     Show(c.dims(), x.dims), Show(c.dims(), w.dims)));
  }
  GE_RETURN_IF_ERROR(CheckChannels(c));
  GE_ASSIGN_OR_RETURN(std::vector<int64_t> kernel, Kernel(c));
  std::vector<Dim> dims = {x.ranked ? x.dims[0] : c.FreshDim("batch", false), w.dims[0]};
  if (!x.ranked || kernel.empty()) {
    while (dims.size() < w.rank()) dims.push_back(c.FreshDim("conv", false));
    return SetTensor(c, 0, x.dtype, std::move(dims));
  }
  const std::vector<Dim> spatial(x.dims.begin() + 2, x.dims.end());
  GE_ASSIGN_OR_RETURN(Window window, ReadWindow(c.node(), spatial, kernel));
  for (size_t i = 0; i < spatial.size(); ++i) {
    GE_ASSIGN_OR_RETURN(Dim d, WindowOutput(c.dims(), spatial[i], window, i, false));
    dims.push_back(d);
  }
  return SetTensor(c, 0, x.dtype, std::move(dims));
}

// A multiply and an add for each weight of a filter, per output element.
Work EffortConv(const Node&, std::span<const Type> in, std::span<const Type> out) {
  double filter = 0;
  if (in.size() > 1 && !out.empty() && in[1].is_static() && in[1].rank() > 0) {
    const double filters = static_cast<double>(in[1].dims[0].value);
    filter = filters > 0 ? ElementsOf(in[1]) / filters : 0;
  }
  return {filter > 0 ? 2 * filter * ElementsOf(out[0]) : 0, BytesOf(in, out)};
}

OpDef ConvRecord() {
  OpDef op{"", "Conv", 22, {}, {{"Y", kFloats, "T"}}, {}, InferConv, EffortConv};
  op.inputs = {{"X", kFloats, "T"}, {"W", kFloats, "T"}, {"B", kFloats, "T", Arity::kOptional}};
  op.attrs = {{"auto_pad", AttrKind::kString}, {"dilations", AttrKind::kInts},
              {"group", AttrKind::kInt},       {"kernel_shape", AttrKind::kInts},
              {"pads", AttrKind::kInts},       {"strides", AttrKind::kInts}};
  return op;
}

}  // namespace

// Grouped, dilated cross-correlation over any number of spatial axes.
GE_OP(conv) = ConvRecord();

}  // namespace ge
