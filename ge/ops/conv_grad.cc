#include "ge/ops/conv_grad.h"

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

Status WantWindows(InferContext& c, std::span<const Dim> x, const Type& dy,
                   const std::vector<int64_t>& kernel, bool pool) {
  GE_ASSIGN_OR_RETURN(Window w, ReadWindow(c.node(), x.subspan(2), kernel));
  const bool ceil_mode = pool && AttrInt(c.node(), "ceil_mode") != 0;
  for (size_t i = 2; i < x.size(); ++i) {
    GE_ASSIGN_OR_RETURN(Dim wanted, WindowOutput(c.dims(), x[i], w, i - 2, ceil_mode));
    if (!Differ(wanted, dy.dims[i])) continue;
    return Bad(c.node(), fmt::format("input 'dY' has shape {}, wanted {} along axis {}: so many "
                                     "windows lie over {}",
                                     Show(c.dims(), dy.dims), wanted.value, i, Show(c.dims(), x)));
  }
  return {};
}

Status WantConvGrad(InferContext& c, const std::vector<Dim>& x, const std::vector<Dim>& w,
                    const Type& dy) {
  const int64_t group = AttrInt(c.node(), "group");
  if (group < 1) {
    return Bad(c.node(), fmt::format("attribute 'group' is {}, wanted at least 1", group));
  }
  if (x.size() < 3 || x.size() != w.size() || x.size() != dy.rank()) {
    return Bad(c.node(),
               fmt::format("the image has shape {}, the weight {} and 'dY' {}, wanted "
                           "equal ranks, at least 3",
                           Show(c.dims(), x), Show(c.dims(), w), Show(c.dims(), dy.dims)));
  }
  if (w[0].known() && w[0].value % group != 0) {
    return Bad(c.node(), fmt::format("the weight has {} filters, wanted a multiple of group {}",
                                     w[0].value, group));
  }
  GE_ASSIGN_OR_RETURN(Dim channels, Checked(c.node(), c.dims().Mul(w[1], KnownDim(group)),
                                            "the number of channels"));
  if (Differ(x[1], channels)) {
    return Bad(c.node(), fmt::format("the image has {} channels, wanted {}: the weight has {} "
                                     "times group {}",
                                     x[1].value, channels.value, w[1].value, group));
  }
  if (Differ(x[0], dy.dims[0]) || Differ(w[0], dy.dims[1])) {
    return Bad(c.node(),
               fmt::format("input 'dY' has shape {}, wanted the {} images of {} and a "
                           "channel for each of the weight's {} filters",
                           Show(c.dims(), dy.dims), Show(c.dims(), std::span(x).subspan(0, 1)),
                           Show(c.dims(), x), Show(c.dims(), std::span(w).subspan(0, 1))));
  }
  std::vector<int64_t> kernel = AttrInts(c.node(), "kernel_shape");
  const bool given = !kernel.empty();
  if (given && kernel.size() != w.size() - 2) {
    return Bad(c.node(), fmt::format("attribute 'kernel_shape' has {} entries, wanted {}: the "
                                     "weight has shape {}",
                                     kernel.size(), w.size() - 2, Show(c.dims(), w)));
  }
  for (size_t i = 2; i < w.size(); ++i) {
    if (!w[i].known() && !given) return {};
    if (!given) kernel.push_back(w[i].value);
    if (w[i].known() && w[i].value != kernel[i - 2]) {
      return Bad(c.node(), fmt::format("attribute 'kernel_shape' has {} for axis {}, wanted {}: "
                                       "the weight has shape {}",
                                       kernel[i - 2], i - 2, w[i].value, Show(c.dims(), w)));
    }
  }
  return WantWindows(c, x, dy, kernel, false);
}

Result<std::optional<std::vector<Dim>>> ShapeInput(InferContext& c, const Type& other,
                                                   std::string_view of) {
  std::optional<std::vector<Dim>> dims = Content(c, 2);
  const DType dtype = c.input_type(0).dtype;
  if (dims) {
    GE_RETURN_IF_ERROR(SetTensor(c, 0, dtype, *dims));
    return dims;
  }
  if (!other.ranked) {
    c.SetOutput(0, UnrankedTensor(dtype));
    return dims;
  }
  std::vector<Dim> fresh;
  for (size_t i = 0; i < other.rank(); ++i) fresh.push_back(c.FreshDim(std::string(of), false));
  GE_RETURN_IF_ERROR(SetTensor(c, 0, dtype, std::move(fresh)));
  return dims;
}

bool ConvGradShape::empty() const {
  const auto none = [](const std::vector<int64_t>& sizes) {
    return std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  };
  return none(x) || none(w) || none(dy);
}

std::optional<ConvGradShape> ReadConvGrad(const Node& node, const Type& x, const Type& w,
                                          const Type& dy) {
  if (!x.is_static() || !w.is_static() || !dy.is_static() || w.rank() < 3) return std::nullopt;
  ConvGradShape s;
  s.group = AttrInt(node, "group", 1);
  s.x = SizesOf(x);
  s.w = SizesOf(w);
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

ValueId AddZeros(Parts* p, const Type& type) {
  std::vector<int64_t> sizes = SizesOf(type);
  const ValueId zeros =
      p->Add("ConstantOfShape", {p->Ints(sizes)}, TensorType(DType::kFloat, sizes));
  return p->Cast(zeros, type.dtype);
}

}  // namespace ge
