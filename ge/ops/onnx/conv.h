// Shapes and effort that Conv, ConvInteger and QLinearConv share; they differ in where the image,
// the weight and the bias stand. Not an operator. Any thread may call.
#pragma once

#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {

// Places and names of the inputs; bias 0 = the operator has none.
struct ConvPorts {
  size_t x = 0, w = 1, bias = 2;
  const char *x_name = "X", *w_name = "W";
};

// Channels, groups and the bias fit each other.
inline Status CheckConvChannels(InferContext& c, const ConvPorts& p) {
  const Type& x = c.input_type(p.x);
  const Type& w = c.input_type(p.w);
  const int64_t group = AttrInt(c.node(), "group");
  if (group < 1) {
    return Bad(c.node(), fmt::format("attribute 'group' is {}, wanted at least 1", group));
  }
  const Dim filters = w.dims[0];
  if (filters.known() && filters.value % group != 0) {
    return Bad(c.node(), fmt::format("input '{}' has {} filters, wanted a multiple of group {}",
                                     p.w_name, filters.value, group));
  }
  GE_ASSIGN_OR_RETURN(Dim wanted, Checked(c.node(), c.dims().Mul(w.dims[1], KnownDim(group)),
                                          "the number of channels"));
  if (x.ranked && x.dims[1].known() && wanted.known() && x.dims[1] != wanted) {
    return Bad(c.node(), fmt::format("input '{}' has {} channels, wanted {}: '{}' has {} channels "
                                     "times group {}",
                                     p.x_name, x.dims[1].value, wanted.value, p.w_name,
                                     c.dims().ToString(w.dims[1]), group));
  }
  if (p.bias != 0 && c.input_count() > p.bias && c.has_input(p.bias)) {
    GE_RETURN_IF_ERROR(WantShape(c, p.bias, "B", {{filters}}));
  }
  return {};
}

// The kernel from the attribute or from the weight's shape; empty when neither is known.
inline Result<std::vector<int64_t>> ConvKernel(InferContext& c, const ConvPorts& p) {
  const Type& w = c.input_type(p.w);
  std::vector<int64_t> kernel = AttrInts(c.node(), "kernel_shape");
  const size_t axes = w.rank() - 2;
  if (!kernel.empty() && kernel.size() != axes) {
    return Bad(c.node(), fmt::format("attribute 'kernel_shape' has {} entries, wanted {}: '{}' has "
                                     "shape {}",
                                     kernel.size(), axes, p.w_name, Show(c.dims(), w.dims)));
  }
  const bool given = !kernel.empty();
  for (size_t i = 0; i < axes; ++i) {
    const Dim d = w.dims[2 + i];
    if (!d.known() && !given) return std::vector<int64_t>();
    if (!given) kernel.push_back(d.value);
    if (d.known() && d.value != kernel[i]) {
      return Bad(c.node(), fmt::format("attribute 'kernel_shape' has {} for axis {}, wanted {}: "
                                       "'{}' has shape {}",
                                       kernel[i], i, d.value, p.w_name, Show(c.dims(), w.dims)));
    }
  }
  return kernel;
}

// Output 0, of dtype `out`.
inline Status InferConvolution(InferContext& c, const ConvPorts& p, DType out) {
  const Type& x = c.input_type(p.x);
  const Type& w = c.input_type(p.w);
  const std::string& op = c.node().op;
  GE_RETURN_IF_ERROR(WantRank(x, 3, "{}: input '{}' (N x C x spatial)", op, p.x_name));
  GE_RETURN_IF_ERROR(WantRank(w, 3, "{}: input '{}' (filters x C / group x kernel)", op, p.w_name));
  if (!w.ranked) {
    c.SetOutput(0, UnrankedTensor(out));
    return {};
  }
  if (x.ranked && x.rank() != w.rank()) {
    return Bad(c.node(),
               fmt::format("input '{}' has shape {} and '{}' {}, wanted equal ranks", p.x_name,
                           Show(c.dims(), x.dims), p.w_name, Show(c.dims(), w.dims)));
  }
  GE_RETURN_IF_ERROR(CheckConvChannels(c, p));
  GE_ASSIGN_OR_RETURN(std::vector<int64_t> kernel, ConvKernel(c, p));
  std::vector<Dim> dims = {x.ranked ? x.dims[0] : c.FreshDim("batch", false), w.dims[0]};
  if (!x.ranked || kernel.empty()) {
    while (dims.size() < w.rank()) dims.push_back(c.FreshDim("conv", false));
    return SetTensor(c, 0, out, std::move(dims));
  }
  const std::vector<Dim> spatial(x.dims.begin() + 2, x.dims.end());
  GE_ASSIGN_OR_RETURN(Window window, ReadWindow(c.node(), spatial, kernel));
  for (size_t i = 0; i < spatial.size(); ++i) {
    GE_ASSIGN_OR_RETURN(Dim d, WindowOutput(c.dims(), spatial[i], window, i, false));
    dims.push_back(d);
  }
  return SetTensor(c, 0, out, std::move(dims));
}

// A scale or zero point of tensor `of`: one element or, with a weight, one a filter.
inline Status WantOneOrFilters(InferContext& c, size_t i, std::string_view of, const Type& weight) {
  const Type& t = c.input_type(i);
  const bool filters = weight.is_tensor() && (!weight.ranked || weight.rank() > 0);
  const std::optional<Dim> number =
      filters && weight.ranked ? std::optional(weight.dims[0]) : std::nullopt;
  if (!t.ranked || t.rank() == 0) return {};
  const Dim have = t.dims[0];
  const bool one = !have.known() || have.value == 1;
  const bool fits = filters && (!number || !number->known() || have == *number);
  if (t.rank() == 1 && (one || fits)) return {};
  return Bad(
      c.node(),
      fmt::format("input {} has shape {}, wanted one element{} of '{}'", i, Show(c.dims(), t.dims),
                  number    ? fmt::format(" or {}, one a filter", c.dims().ToString(*number))
                  : filters ? " or one a filter"
                            : ", for the whole",
                  of));
}

inline std::vector<AttrDef> ConvAttrs() {
  return {{"auto_pad", AttrKind::kString, "NOTSET"},
          {"dilations", AttrKind::kInts},
          {"group", AttrKind::kInt, 1},
          {"kernel_shape", AttrKind::kInts},
          {"pads", AttrKind::kInts},
          {"strides", AttrKind::kInts}};
}

// A multiply and an add for each weight of a filter, per output element.
template <size_t kWeight>
Work EffortConvolution(const Node&, std::span<const Type> in, std::span<const Type> out) {
  double filter = 0;
  if (in.size() > kWeight && !out.empty() && in[kWeight].is_static() && in[kWeight].rank() > 0) {
    const double filters = static_cast<double>(in[kWeight].dims[0].value);
    filter = filters > 0 ? ElementsOf(in[kWeight]) / filters : 0;
  }
  return {filter > 0 ? 2 * filter * ElementsOf(out[0]) : 0, BytesOf(in, out)};
}

}  // namespace ge
