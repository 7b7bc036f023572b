#include "ge/ops/infer_shapes.h"

#include <fmt/format.h>

#include <algorithm>

#include "ge/base/checked.h"

namespace ge {
namespace {

std::string ShowInts(std::span<const int64_t> v) {
  std::string s = "[";
  for (size_t i = 0; i < v.size(); ++i) s += fmt::format("{}{}", i ? "," : "", v[i]);
  return s + "]";
}

// The shape of one more tensor broadcast into `result`, aligned at the last axis.
using Shapes = std::span<const std::vector<Dim>* const>;

Status BroadcastInto(InferContext& c, Shapes shapes, size_t which, std::vector<Dim>* result) {
  const std::vector<Dim>& shape = *shapes[which];
  const size_t offset = result->size() - shape.size();
  for (size_t k = 0; k < shape.size(); ++k) {
    Dim& have = (*result)[offset + k];
    const Dim next = shape[k];
    if (have == next || next == KnownDim(1)) continue;
    if (have == KnownDim(1)) {
      have = next;
    } else if (have.known() && next.known()) {
      std::string all;
      for (const auto* s : shapes) all += (all.empty() ? "" : " and ") + Show(c.dims(), *s);
      return Bad(c.node(), fmt::format("shapes {} do not broadcast: sizes {} and {} meet at axis "
                                       "{}, wanted equal sizes or a 1; reshape or slice one",
                                       all, have.value, next.value, offset + k));
    } else if (have.known() || next.known()) {
      // The symbolic one must be 1 or the known size for the graph to be legal.
      if (next.known()) have = next;
    } else {
      have = c.FreshDim(fmt::format("{}_broadcast", c.node().op), false);
    }
  }
  return {};
}

Result<std::vector<Dim>> Broadcast(InferContext& c, Shapes shapes) {
  size_t rank = 0;
  for (const auto* s : shapes) rank = std::max(rank, s->size());
  std::vector<Dim> result(rank, KnownDim(1));
  for (size_t i = 0; i < shapes.size(); ++i) {
    GE_RETURN_IF_ERROR(BroadcastInto(c, shapes, i, &result));
  }
  return result;
}

Status WindowListSize(const Node& n, const char* attr, size_t found, size_t wanted) {
  return Bad(n, fmt::format("attribute '{}' has {} entries, wanted {}: the input has {} spatial "
                            "axes",
                            attr, found, wanted, wanted));
}

// An attribute of one positive entry per spatial axis; all 1 when absent.
Result<std::vector<int64_t>> PositivePerAxis(const Node& n, const char* attr, size_t axes) {
  const std::vector<int64_t>& given = AttrInts(n, attr);
  if (given.empty()) return std::vector<int64_t>(axes, 1);
  if (given.size() != axes) return WindowListSize(n, attr, given.size(), axes);
  for (int64_t v : given) {
    if (v < 1) {
      return Bad(
          n, fmt::format("attribute '{}' is {}, wanted every entry >= 1", attr, ShowInts(given)));
    }
  }
  return given;
}

// Extent of a dilated kernel.
std::optional<int64_t> Extent(const Window& w, size_t axis) {
  auto span = CheckedMul(w.kernel[axis] - 1, w.dilations[axis]);
  return span ? CheckedAdd(*span, 1) : std::nullopt;
}

Status ReadPads(const Node& n, std::span<const Dim> spatial, Window* w) {
  const size_t axes = spatial.size();
  const std::vector<int64_t>& given = AttrInts(n, "pads");
  if (!given.empty() && given.size() != 2 * axes) {
    return Bad(n, fmt::format("attribute 'pads' has {} entries, wanted {}: a begin and an end for "
                              "each of {} spatial axes",
                              given.size(), 2 * axes, axes));
  }
  for (int64_t p : given) {
    if (p < 0) {
      return Bad(n, fmt::format("attribute 'pads' is {}, wanted every entry >= 0; crop with Slice",
                                ShowInts(given)));
    }
  }
  w->pads.assign(2 * axes, 0);
  // Operators without that attribute are padded as they say.
  const std::string_view mode = AttrString(n, "auto_pad", "NOTSET");
  if (mode == "NOTSET") {
    if (!given.empty()) w->pads = given;
    return {};
  }
  w->same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  if (!w->same && mode != "VALID") {
    return Bad(n, fmt::format("attribute 'auto_pad' is '{:.64}', wanted NOTSET, SAME_UPPER, "
                              "SAME_LOWER or VALID",
                              mode));
  }
  if (std::any_of(given.begin(), given.end(), [](int64_t p) { return p != 0; })) {
    return Bad(n, fmt::format("attribute 'pads' is {} beside auto_pad {}, wanted only one of them",
                              ShowInts(given), mode));
  }
  for (size_t i = 0; w->same && i < axes; ++i) {
    if (!spatial[i].known() || spatial[i].value == 0) continue;
    const int64_t in = spatial[i].value, stride = w->strides[i];
    const auto extent = Extent(*w, i);
    if (!extent) return Bad(n, "kernel times dilation overflows 64 bits, wanted less");
    // (out - 1) * stride <= in - 1, so only the sum with the extent can overflow.
    const auto reach = CheckedAdd((in - 1) / stride * stride, *extent);
    if (!reach) return Bad(n, "kernel times dilation overflows 64 bits, wanted less");
    const int64_t total = std::max<int64_t>(0, *reach - in);
    const int64_t less = total / 2;
    w->pads[i] = mode == "SAME_UPPER" ? less : total - less;
    w->pads[axes + i] = total - w->pads[i];
  }
  return {};
}

}  // namespace

Status Bad(const Node& n, std::string_view what) {
  return Status(Code::kInvalidGraph,
                fmt::format("{}{}{}: {}", n.domain, n.domain.empty() ? "" : ".", n.op, what));
}

std::string Show(const DimTable& dim_table, std::span<const Dim> dims) {
  std::string s = "[";
  for (size_t i = 0; i < dims.size(); ++i) s += (i ? "," : "") + dim_table.ToString(dims[i]);
  return s + "]";
}

Result<Dim> Checked(const Node& n, std::optional<Dim> dim, std::string_view what) {
  if (dim) return *dim;
  return Bad(n, fmt::format("{} overflows 64 bits, wanted a size below 2^63", what));
}

Result<Dim> SameDim(InferContext& context, Dim left, Dim right, std::string_view what) {
  if (left.known() && right.known() && left.value != right.value) {
    return Bad(context.node(),
               fmt::format("{}: found {} and {}, wanted equal sizes; slice or pad one", what,
                           left.value, right.value));
  }
  return left.known() ? left : right.known() ? right : left;
}

Status WantShape(InferContext& context, size_t i, std::string_view name,
                 std::span<const Dim> wanted) {
  const Type& t = context.input_type(i);
  if (!t.ranked) return {};
  bool fits = t.rank() == wanted.size();
  for (size_t k = 0; fits && k < wanted.size(); ++k) {
    fits = !t.dims[k].known() || !wanted[k].known() || t.dims[k] == wanted[k];
  }
  if (fits) return {};
  return Bad(context.node(),
             fmt::format("input '{}' has shape {}, wanted {}", name, Show(context.dims(), t.dims),
                         Show(context.dims(), wanted)));
}

Status SetTensor(InferContext& context, size_t i, DType dtype, std::vector<Dim> dims) {
  if (dims.size() > kMaxRank) {
    return Status(Code::kLimitExceeded, fmt::format("{}: output {} would have rank {}, wanted at "
                                                    "most {}",
                                                    context.node().op, i, dims.size(), kMaxRank));
  }
  for (const Dim& d : dims) {
    if (d.known() && d.value < 0) {
      return Bad(context.node(),
                 fmt::format("output {} would have shape {}, wanted no negative size", i,
                             Show(context.dims(), dims)));
    }
  }
  context.SetOutput(i, TensorType(dtype, std::move(dims)));
  return {};
}

Result<int64_t> NormalizeAxis(int64_t axis, int64_t rank, std::string_view what) {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  return Status(Code::kInvalidGraph, fmt::format("{} is {}, wanted {} to {}: the tensor has rank "
                                                 "{}",
                                                 what, axis, -rank, rank - 1, rank));
}

Result<std::vector<int64_t>> NormalizeAxes(const Node& n, std::span<const int64_t> axes,
                                           int64_t rank) {
  std::vector<int64_t> result;
  for (int64_t a : axes) {
    auto axis = NormalizeAxis(a, rank, "an entry of 'axes'");
    if (!axis.ok()) return Bad(n, axis.status().message());
    // The list cannot grow past the rank before an axis repeats.
    if (std::find(result.begin(), result.end(), *axis) != result.end()) {
      return Bad(n, fmt::format("axis {} is given twice in 'axes', wanted each axis once", *axis));
    }
    result.push_back(*axis);
  }
  return result;
}

Status WantRank(const Type& type, size_t at_least, std::string_view what) {
  if (!type.ranked || type.rank() >= at_least) return {};
  return Status(Code::kInvalidGraph,
                fmt::format("{} has rank {}, wanted at least {}", what, type.rank(), at_least));
}

Result<std::vector<Dim>> BroadcastDims(InferContext& context,
                                       std::span<const std::vector<Dim>> shapes) {
  std::vector<const std::vector<Dim>*> all;
  for (const std::vector<Dim>& s : shapes) all.push_back(&s);
  return Broadcast(context, all);
}

Status InferBroadcast(InferContext& context, DType out) {
  const DType dtype = out == DType::kUndefined ? context.input_type(0).dtype : out;
  std::vector<const std::vector<Dim>*> shapes;
  shapes.reserve(context.input_count());
  for (size_t i = 0; i < context.input_count(); ++i) {
    if (!context.has_input(i)) continue;
    if (!context.input_type(i).ranked) {
      context.SetOutput(0, UnrankedTensor(dtype));
      return {};
    }
    shapes.push_back(&context.input_type(i).dims);
  }
  GE_ASSIGN_OR_RETURN(std::vector<Dim> dims, Broadcast(context, shapes));
  return SetTensor(context, 0, dtype, std::move(dims));
}

Status InferSame(InferContext& context) {
  context.SetOutput(0, Type(context.input_type(0)));
  return {};
}

Result<Window> ReadWindow(const Node& n, std::span<const Dim> spatial,
                          const std::vector<int64_t>& kernel) {
  Window w;
  const size_t axes = spatial.size();
  if (kernel.size() != axes) return WindowListSize(n, "kernel_shape", kernel.size(), axes);
  for (int64_t k : kernel) {
    if (k < 1) {
      return Bad(n,
                 fmt::format("the kernel shape is {}, wanted every size >= 1", ShowInts(kernel)));
    }
  }
  w.kernel = kernel;
  GE_ASSIGN_OR_RETURN(w.strides, PositivePerAxis(n, "strides", axes));
  GE_ASSIGN_OR_RETURN(w.dilations, PositivePerAxis(n, "dilations", axes));
  GE_RETURN_IF_ERROR(ReadPads(n, spatial, &w));
  return w;
}

Result<Dim> WindowOutput(DimTable& dims, Dim in, const Window& window, size_t axis,
                         bool ceil_mode) {
  const Dim stride = KnownDim(window.strides[axis]);
  const auto overflow = [&] {
    return Status(
        Code::kInvalidGraph,
        fmt::format("the output size of spatial axis {} overflows 64 bits, wanted smaller "
                    "kernel, dilations, strides and pads",
                    axis));
  };
  const int64_t before = window.pads[axis], after = window.pads[window.kernel.size() + axis];
  const auto extent = Extent(window, axis);
  const auto pads = CheckedAdd(before, after);
  if (!extent || !pads) return overflow();
  std::optional<Dim> out;
  if (window.same) {
    out = dims.CeilDiv(in, stride);
  } else {
    const auto slack = CheckedSub(*pads, *extent);
    auto room = slack ? dims.Add(in, KnownDim(*slack)) : std::nullopt;
    if (room) room = ceil_mode ? dims.CeilDiv(*room, stride) : dims.FloorDiv(*room, stride);
    out = room ? dims.Add(*room, KnownDim(1)) : std::nullopt;
    // VALID is no padding, and ceil_mode counts there too: ONNX's own shape inference and ONNX
    // Runtime do so, against the formula in the operator's text.
    // A window that would start in the end padding is dropped; it cannot when the kernel reaches
    // at least a stride beyond it.
    const auto reach = CheckedAdd(stride.value, after);
    if (ceil_mode && out && (!reach || *extent < *reach)) {
      const auto start = dims.Add(in, KnownDim(before));
      const auto most = start ? dims.CeilDiv(*start, stride) : std::nullopt;
      out = most ? dims.Min(*out, *most) : std::nullopt;
    }
  }
  if (!out) return overflow();
  if (out->known() && out->value < 1) {
    return Status(
        Code::kInvalidGraph,
        fmt::format("spatial axis {} would have output size {}, wanted at least 1: input "
                    "{} with pads {} and {} under kernel {} (dilation {}, stride {}); take a "
                    "smaller kernel or more padding",
                    axis, out->value, dims.ToString(in), before, after, window.kernel[axis],
                    window.dilations[axis], stride.value));
  }
  return *out;
}

}  // namespace ge
