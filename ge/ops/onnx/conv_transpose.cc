#include <fmt/format.h>

#include <algorithm>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status CheckChannels(InferContext& c, Dim filters) {
  const Type& x = c.input_type(0);
  const Type& w = c.input_type(1);
  const int64_t group = AttrInt(c.node(), "group");
  if (x.ranked) {
    const auto same = SameDim(c, x.dims[1], w.dims[0], "channels of inputs 'X' and 'W'");
    if (!same.ok()) return same.status();
    if (same->known() && same->value % group != 0) {
      return Bad(c.node(), fmt::format("input 'X' has {} channels, wanted a multiple of group {}",
                                       same->value, group));
    }
  }
  if (c.input_count() > 2 && c.has_input(2)) {
    GE_RETURN_IF_ERROR(WantShape(c, 2, "B", {{filters}}));
  }
  return {};
}

// Attributes output_shape and output_padding: absent, or one entry of at least 0 per axis.
Result<std::vector<int64_t>> PerAxis(const Node& n, const char* attr, size_t axes) {
  const std::vector<int64_t>& given = AttrInts(n, attr);
  if (!given.empty() && given.size() != axes) {
    return Bad(n, fmt::format("attribute '{}' has {} entries, wanted {}: the input has so many "
                              "spatial axes",
                              attr, given.size(), axes));
  }
  for (int64_t v : given) {
    if (v < 0)
      return Bad(n, fmt::format("attribute '{}' holds {}, wanted no less than 0", attr, v));
  }
  return given;
}

// stride * (in - 1) + output_padding + extent - pads.
Result<Dim> Spread(InferContext& c, Dim in, const Window& w, size_t i, int64_t extra) {
  DimTable& d = c.dims();
  const size_t axes = w.kernel.size();
  std::optional<Dim> out;
  if (w.same) {
    out = d.Mul(in, KnownDim(w.strides[i]));
  } else {
    out = d.Sub(in, KnownDim(1));
    if (out) out = d.Mul(*out, KnownDim(w.strides[i]));
    if (out) out = d.Add(*out, KnownDim(extra));
    auto span = d.Mul(KnownDim(w.kernel[i] - 1), KnownDim(w.dilations[i]));
    if (span) span = d.Add(*span, KnownDim(1));
    if (out) out = span ? d.Add(*out, *span) : std::nullopt;
    for (int64_t pad : {w.pads[i], w.pads[axes + i]}) {
      if (out) out = d.Sub(*out, KnownDim(pad));
    }
  }
  GE_ASSIGN_OR_RETURN(Dim size, Checked(c.node(), out, "an output size"));
  if (size.known() && size.value < 1) {
    return Bad(c.node(), fmt::format("spatial axis {} would have output size {}, wanted at least "
                                     "1: less padding or a larger kernel",
                                     i, size.value));
  }
  return size;
}

Status SpatialDims(InferContext& c, const std::vector<int64_t>& kernel, std::vector<Dim>* dims) {
  const Type& x = c.input_type(0);
  const std::vector<Dim> spatial(x.dims.begin() + 2, x.dims.end());
  GE_ASSIGN_OR_RETURN(Window w, ReadWindow(c.node(), spatial, kernel));
  GE_ASSIGN_OR_RETURN(auto shape, PerAxis(c.node(), "output_shape", spatial.size()));
  GE_ASSIGN_OR_RETURN(auto extra, PerAxis(c.node(), "output_padding", spatial.size()));
  for (size_t i = 0; i < spatial.size(); ++i) {
    const int64_t padding = extra.empty() ? 0 : extra[i];
    if (padding >= std::max(w.strides[i], w.dilations[i])) {
      return Bad(c.node(), fmt::format("attribute 'output_padding' has {} for axis {}, wanted less "
                                       "than the stride {} or the dilation {}",
                                       padding, i, w.strides[i], w.dilations[i]));
    }
    if (!shape.empty()) {
      if (shape[i] < 1) return Bad(c.node(), "attribute 'output_shape' holds 0, wanted at least 1");
      dims->push_back(KnownDim(shape[i]));
      continue;
    }
    GE_ASSIGN_OR_RETURN(Dim size, Spread(c, spatial[i], w, i, padding));
    dims->push_back(size);
  }
  return {};
}

Status InferConvTranspose(InferContext& c) {
  const Type& x = c.input_type(0);
  const Type& w = c.input_type(1);
  GE_RETURN_IF_ERROR(WantRank(x, 3, "ConvTranspose: input 'X' (N x C x spatial)"));
  GE_RETURN_IF_ERROR(WantRank(w, 3, "ConvTranspose: input 'W' (C x filters / group x kernel)"));
  if (!w.ranked) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  if (x.ranked && x.rank() != w.rank()) {
    return Bad(c.node(), fmt::format("input 'X' has shape {} and 'W' {}, wanted equal ranks",
                                     Show(c.dims(), x.dims), Show(c.dims(), w.dims)));
  }
  const int64_t group = AttrInt(c.node(), "group");
  if (group < 1) {
    return Bad(c.node(), fmt::format("attribute 'group' is {}, wanted at least 1", group));
  }
  GE_ASSIGN_OR_RETURN(Dim filters, Checked(c.node(), c.dims().Mul(w.dims[1], KnownDim(group)),
                                           "the number of filters"));
  GE_RETURN_IF_ERROR(CheckChannels(c, filters));
  const std::vector<int64_t>& given = AttrInts(c.node(), "kernel_shape");
  std::vector<int64_t> kernel = given;
  bool open = !x.ranked;
  for (size_t i = 2; i < w.rank(); ++i) {
    const Dim d = w.dims[i];
    if (given.empty() && d.known()) kernel.push_back(d.value);
    open = open || (given.empty() && !d.known());
    if (d.known() && i - 2 < given.size() && given[i - 2] != d.value) {
      return Bad(c.node(), fmt::format("attribute 'kernel_shape' has {} for axis {}, wanted {}: "
                                       "'W' has shape {}",
                                       given[i - 2], i - 2, d.value, Show(c.dims(), w.dims)));
    }
  }
  std::vector<Dim> dims = {x.ranked ? x.dims[0] : c.FreshDim("batch", false), filters};
  while (open && dims.size() < w.rank()) dims.push_back(c.FreshDim("conv", false));
  if (!open) GE_RETURN_IF_ERROR(SpatialDims(c, kernel, &dims));
  return SetTensor(c, 0, x.dtype, std::move(dims));
}

// A multiply and an add for each weight of a channel, per input element.
Work EffortConvTranspose(const Node&, std::span<const Type> in, std::span<const Type> out) {
  double weights = 0;
  if (in.size() > 1 && in[1].is_static() && in[1].rank() > 0) {
    const double channels = static_cast<double>(in[1].dims[0].value);
    weights = channels > 0 ? ElementsOf(in[1]) / channels : 0;
  }
  return {weights > 0 ? 2 * weights * ElementsOf(in[0]) : 0, BytesOf(in, out)};
}

OpDef ConvTransposeRecord() {
  OpDef op{"",
           "ConvTranspose",
           22,
           {},
           {{"Y", kFloats, "T"}},
           {},
           InferConvTranspose,
           EffortConvTranspose};
  op.inputs = {{"X", kFloats, "T"}, {"W", kFloats, "T"}, {"B", kFloats, "T", Arity::kOptional}};
  op.attrs = {{"auto_pad", AttrKind::kString, "NOTSET"},
              {"dilations", AttrKind::kInts},
              {"group", AttrKind::kInt, 1},
              {"kernel_shape", AttrKind::kInts},
              {"output_padding", AttrKind::kInts},
              {"output_shape", AttrKind::kInts},
              {"pads", AttrKind::kInts},
              {"strides", AttrKind::kInts}};
  return op;
}

}  // namespace

// The transpose of Conv: every input element spreads a kernel over the output.
GE_OP(conv_transpose) = ConvTransposeRecord();

}  // namespace ge
