#include "ge/ops/families/conv_grad.h"

#include <fmt/format.h>

#include <algorithm>

#include "ge/ops/known_ints.h"

namespace ge {
namespace {

std::vector<int64_t> SizesOf(const Type& t) {
  std::vector<int64_t> sizes;
  for (const Dim& d : t.dims) sizes.push_back(d.value);
  return sizes;
}

bool Differ(Dim a, Dim b) { return a.known() && b.known() && a.value != b.value; }

}  // namespace

Status WantWindows(InferContext& context, std::span<const Dim> x, const Type& dy,
                   const std::vector<int64_t>& kernel, bool pool) {
  GE_ASSIGN_OR_RETURN(Window w, ReadWindow(context.node(), x.subspan(2), kernel));
  const bool ceil_mode = pool && AttrInt(context.node(), "ceil_mode") != 0;
  for (size_t i = 2; i < x.size(); ++i) {
    GE_ASSIGN_OR_RETURN(Dim wanted, WindowOutput(context.dims(), x[i], w, i - 2, ceil_mode));
    if (!Differ(wanted, dy.dims[i])) continue;
    return Bad(
        context.node(),
        fmt::format("input 'dY' has shape {}, wanted {} along axis {}: so many "
                    "windows lie over {}",
                    Show(context.dims(), dy.dims), wanted.value, i, Show(context.dims(), x)));
  }
  return {};
}

Status WantConvGrad(InferContext& context, const std::vector<Dim>& x,
                    const std::vector<Dim>& weight, const Type& dy) {
  const int64_t group = AttrInt(context.node(), "group");
  if (group < 1) {
    return Bad(context.node(), fmt::format("attribute 'group' is {}, wanted at least 1", group));
  }
  if (x.size() < 3 || x.size() != weight.size() || x.size() != dy.rank()) {
    return Bad(context.node(),
               fmt::format("the image has shape {}, the weight {} and 'dY' {}, wanted "
                           "equal ranks, at least 3",
                           Show(context.dims(), x), Show(context.dims(), weight),
                           Show(context.dims(), dy.dims)));
  }
  if (weight[0].known() && weight[0].value % group != 0) {
    return Bad(context.node(),
               fmt::format("the weight has {} filters, wanted a multiple of group {}",
                           weight[0].value, group));
  }
  GE_ASSIGN_OR_RETURN(Dim channels,
                      Checked(context.node(), context.dims().Mul(weight[1], KnownDim(group)),
                              "the number of channels"));
  if (Differ(x[1], channels)) {
    return Bad(context.node(),
               fmt::format("the image has {} channels, wanted {}: the weight has {} "
                           "times group {}",
                           x[1].value, channels.value, weight[1].value, group));
  }
  if (Differ(x[0], dy.dims[0]) || Differ(weight[0], dy.dims[1])) {
    return Bad(context.node(),
               fmt::format(
                   "input 'dY' has shape {}, wanted the {} images of {} and a "
                   "channel for each of the weight's {} filters",
                   Show(context.dims(), dy.dims), Show(context.dims(), std::span(x).subspan(0, 1)),
                   Show(context.dims(), x), Show(context.dims(), std::span(weight).subspan(0, 1))));
  }
  std::vector<int64_t> kernel = AttrInts(context.node(), "kernel_shape");
  const bool given = !kernel.empty();
  if (given && kernel.size() != weight.size() - 2) {
    return Bad(context.node(),
               fmt::format("attribute 'kernel_shape' has {} entries, wanted {}: the "
                           "weight has shape {}",
                           kernel.size(), weight.size() - 2, Show(context.dims(), weight)));
  }
  for (size_t i = 2; i < weight.size(); ++i) {
    if (!weight[i].known() && !given) return {};
    if (!given) kernel.push_back(weight[i].value);
    if (weight[i].known() && weight[i].value != kernel[i - 2]) {
      return Bad(context.node(),
                 fmt::format("attribute 'kernel_shape' has {} for axis {}, wanted {}: "
                             "the weight has shape {}",
                             kernel[i - 2], i - 2, weight[i].value, Show(context.dims(), weight)));
    }
  }
  return WantWindows(context, x, dy, kernel, false);
}

Result<std::optional<std::vector<Dim>>> ShapeInput(InferContext& context, const Type& other,
                                                   std::string_view of) {
  std::optional<std::vector<Dim>> dims = Content(context, 2);
  const DType dtype = context.input_type(0).dtype;
  if (dims) {
    GE_RETURN_IF_ERROR(SetTensor(context, 0, dtype, *dims));
    return dims;
  }
  if (!other.ranked) {
    context.SetOutput(0, UnrankedTensor(dtype));
    return dims;
  }
  std::vector<Dim> fresh;
  for (size_t i = 0; i < other.rank(); ++i)
    fresh.push_back(context.FreshDim(std::string(of), false));
  GE_RETURN_IF_ERROR(SetTensor(context, 0, dtype, std::move(fresh)));
  return dims;
}

bool ConvGradShape::empty() const {
  const auto none = [](const std::vector<int64_t>& sizes) {
    return std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  };
  return none(x) || none(w) || none(dy);
}

std::optional<ConvGradShape> ReadConvGrad(const Node& node, const Type& x, const Type& weight,
                                          const Type& dy) {
  if (!x.is_static() || !weight.is_static() || !dy.is_static() || weight.rank() < 3)
    return std::nullopt;
  ConvGradShape s;
  s.group = AttrInt(node, "group", 1);
  s.x = SizesOf(x);
  s.w = SizesOf(weight);
  s.dy = SizesOf(dy);
  s.kernel.assign(s.w.begin() + 2, s.w.end());
  const Result<Window> window = ReadWindow(node, std::span(x.dims).subspan(2), s.kernel);
  if (!window.ok()) return std::nullopt;
  const size_t axes = s.kernel.size();
  s.strides = window->strides;
  s.dilations = window->dilations;
  for (size_t i = 0; i < axes; ++i) {
    const int64_t reach = (s.dy[2 + i] - 1) * s.strides[i] + (s.kernel[i] - 1) * s.dilations[i] + 1;
    s.begin.push_back(window->pads[i]);
    s.end.push_back(reach - s.x[2 + i] - window->pads[i]);
  }
  return s;
}

ValueId AddZeros(Parts* parts, const Type& type) {
  std::vector<int64_t> sizes = SizesOf(type);
  const ValueId zeros =
      parts->Add("ConstantOfShape", {parts->Ints(sizes)}, TensorType(DType::kFloat, sizes));
  return parts->Cast(zeros, type.dtype);
}

}  // namespace ge
