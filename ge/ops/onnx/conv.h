// Shapes and effort shared by Conv, ConvInteger and QLinearConv; they differ in the positions of
// the image, the weight and the bias. Not an operator. Any thread may call.
#pragma once

#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {

// Positions and names of the inputs; bias 0 = the operator has none.
struct ConvPorts {
  size_t x = 0, w = 1, bias = 2;
  const char *x_name = "X", *w_name = "W";
};

// Checks that channels, groups and the bias fit each other.
inline Status CheckConvChannels(InferContext& context, const ConvPorts& ports) {
  const Type& x = context.input_type(ports.x);
  const Type& w = context.input_type(ports.w);
  const int64_t group = AttrInt(context.node(), "group");
  if (group < 1) {
    return Bad(context.node(), fmt::format("attribute 'group' is {}, wanted at least 1", group));
  }
  const Dim filters = w.dims[0];
  if (filters.known() && filters.value % group != 0) {
    return Bad(context.node(),
               fmt::format("input '{}' has {} filters, wanted a multiple of group {}", ports.w_name,
                           filters.value, group));
  }
  GE_ASSIGN_OR_RETURN(Dim wanted,
                      Checked(context.node(), context.dims().Mul(w.dims[1], KnownDim(group)),
                              "the number of channels"));
  if (x.ranked && x.dims[1].known() && wanted.known() && x.dims[1] != wanted) {
    return Bad(context.node(),
               fmt::format("input '{}' has {} channels, wanted {}: '{}' has {} channels "
                           "times group {}",
                           ports.x_name, x.dims[1].value, wanted.value, ports.w_name,
                           context.dims().ToString(w.dims[1]), group));
  }
  if (ports.bias != 0 && context.input_count() > ports.bias && context.has_input(ports.bias)) {
    GE_RETURN_IF_ERROR(WantShape(context, ports.bias, "B", {{filters}}));
  }
  return {};
}

// The kernel from the attribute or from the weight's shape; empty when neither is known.
inline Result<std::vector<int64_t>> ConvKernel(InferContext& context, const ConvPorts& ports) {
  const Type& w = context.input_type(ports.w);
  std::vector<int64_t> kernel = AttrInts(context.node(), "kernel_shape");
  const size_t axes = w.rank() - 2;
  if (!kernel.empty() && kernel.size() != axes) {
    return Bad(context.node(),
               fmt::format("attribute 'kernel_shape' has {} entries, wanted {}: '{}' has "
                           "shape {}",
                           kernel.size(), axes, ports.w_name, Show(context.dims(), w.dims)));
  }
  const bool given = !kernel.empty();
  for (size_t i = 0; i < axes; ++i) {
    const Dim d = w.dims[2 + i];
    if (!d.known() && !given) return std::vector<int64_t>();
    if (!given) kernel.push_back(d.value);
    if (d.known() && d.value != kernel[i]) {
      return Bad(context.node(),
                 fmt::format("attribute 'kernel_shape' has {} for axis {}, wanted {}: "
                             "'{}' has shape {}",
                             kernel[i], i, d.value, ports.w_name, Show(context.dims(), w.dims)));
    }
  }
  return kernel;
}

// Output 0, of dtype `out`.
inline Status InferConvolution(InferContext& context, const ConvPorts& ports, DType out) {
  const Type& x = context.input_type(ports.x);
  const Type& w = context.input_type(ports.w);
  const std::string& op = context.node().op;
  GE_RETURN_IF_ERROR(WantRank(x, 3, "{}: input '{}' (N x C x spatial)", op, ports.x_name));
  GE_RETURN_IF_ERROR(
      WantRank(w, 3, "{}: input '{}' (filters x C / group x kernel)", op, ports.w_name));
  if (!w.ranked) {
    context.SetOutput(0, UnrankedTensor(out));
    return {};
  }
  if (x.ranked && x.rank() != w.rank()) {
    return Bad(
        context.node(),
        fmt::format("input '{}' has shape {} and '{}' {}, wanted equal ranks", ports.x_name,
                    Show(context.dims(), x.dims), ports.w_name, Show(context.dims(), w.dims)));
  }
  GE_RETURN_IF_ERROR(CheckConvChannels(context, ports));
  GE_ASSIGN_OR_RETURN(std::vector<int64_t> kernel, ConvKernel(context, ports));
  std::vector<Dim> dims = {x.ranked ? x.dims[0] : context.FreshDim("batch", false), w.dims[0]};
  if (!x.ranked || kernel.empty()) {
    while (dims.size() < w.rank()) dims.push_back(context.FreshDim("conv", false));
    return SetTensor(context, 0, out, std::move(dims));
  }
  const std::vector<Dim> spatial(x.dims.begin() + 2, x.dims.end());
  GE_ASSIGN_OR_RETURN(Window window, ReadWindow(context.node(), spatial, kernel));
  for (size_t i = 0; i < spatial.size(); ++i) {
    GE_ASSIGN_OR_RETURN(Dim d, WindowOutput(context.dims(), spatial[i], window, i, false));
    dims.push_back(d);
  }
  return SetTensor(context, 0, out, std::move(dims));
}

// A scale or zero point of tensor `of`: one element or, with a weight, one a filter.
inline Status WantOneOrFilters(InferContext& context, size_t i, std::string_view of,
                               const Type& weight) {
  const Type& t = context.input_type(i);
  const bool filters = weight.is_tensor() && (!weight.ranked || weight.rank() > 0);
  const std::optional<Dim> number =
      filters && weight.ranked ? std::optional(weight.dims[0]) : std::nullopt;
  if (!t.ranked || t.rank() == 0) return {};
  const Dim have = t.dims[0];
  const bool one = !have.known() || have.value == 1;
  const bool fits = filters && (!number || !number->known() || have == *number);
  if (t.rank() == 1 && (one || fits)) return {};
  return Bad(context.node(), fmt::format("input {} has shape {}, wanted one element{} of '{}'", i,
                                         Show(context.dims(), t.dims),
                                         number    ? fmt::format(" or {}, one a filter",
                                                                 context.dims().ToString(*number))
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
