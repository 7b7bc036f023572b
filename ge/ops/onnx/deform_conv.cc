#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// Channels, groups and filters fit each other.
Status CheckDeformChannels(InferContext& c) {
  const Type &x = c.input_type(0), &w = c.input_type(1);
  for (const char* name : {"group", "offset_group"}) {
    const int64_t groups = AttrInt(c.node(), name);
    if (groups < 1) {
      return Bad(c.node(), fmt::format("attribute '{}' is {}, wanted at least 1", name, groups));
    }
    const bool filters = std::string_view(name) == "group";
    const Dim count = filters ? w.dims[0] : x.ranked ? x.dims[1] : KnownDim(0);
    if (count.known() && count.value % groups != 0) {
      return Bad(c.node(), fmt::format("{} {}, wanted a multiple of {} {}", count.value,
                                       filters ? "filters" : "channels", name, groups));
    }
  }
  const int64_t group = AttrInt(c.node(), "group");
  GE_ASSIGN_OR_RETURN(Dim wanted, Checked(c.node(), c.dims().Mul(w.dims[1], KnownDim(group)),
                                          "the number of channels"));
  if (x.ranked && x.dims[1].known() && wanted.known() && x.dims[1] != wanted) {
    return Bad(c.node(), fmt::format("input 'X' has {} channels, wanted {}: those of 'W' times "
                                     "group {}",
                                     x.dims[1].value, wanted.value, group));
  }
  if (c.input_count() > 3 && c.has_input(3)) {
    GE_RETURN_IF_ERROR(WantShape(c, 3, "B", {{w.dims[0]}}));
  }
  return {};
}

// Empty when neither the attribute nor the weight tells.
Result<std::vector<int64_t>> DeformKernel(InferContext& c) {
  const Type& w = c.input_type(1);
  std::vector<int64_t> kernel = AttrInts(c.node(), "kernel_shape");
  const bool given = !kernel.empty();
  if (given && kernel.size() + 2 != w.rank()) {
    return Bad(c.node(), fmt::format("attribute 'kernel_shape' has {} entries, wanted {}",
                                     kernel.size(), w.rank() - 2));
  }
  for (size_t i = 2; i < w.rank(); ++i) {
    const Dim d = w.dims[i];
    if (!given && !d.known()) return std::vector<int64_t>();
    if (!given) kernel.push_back(d.value);
    if (d.known() && d.value != kernel[i - 2]) {
      return Bad(c.node(), fmt::format("attribute 'kernel_shape' has {} for axis {}, wanted {} as "
                                       "in W",
                                       kernel[i - 2], i - 2, d.value));
    }
  }
  return kernel;
}

// N x (offset_group * taps * per_tap) x output.
Status WantPerTap(InferContext& c, size_t i, const char* name, std::span<const Dim> out,
                  const std::vector<int64_t>& kernel, int64_t per_tap) {
  if (i >= c.input_count() || !c.has_input(i)) return {};
  std::optional<Dim> count = KnownDim(AttrInt(c.node(), "offset_group"));
  for (int64_t k : kernel) count = count ? c.dims().Mul(*count, KnownDim(k)) : count;
  if (count) count = c.dims().Mul(*count, KnownDim(per_tap));
  std::vector<Dim> wanted(out.begin(), out.end());
  GE_ASSIGN_OR_RETURN(wanted[1], Checked(c.node(), count, "the number of offsets"));
  return WantShape(c, i, name, wanted);
}

Status InferDeformConv(InferContext& c) {
  const Type &x = c.input_type(0), &w = c.input_type(1);
  GE_RETURN_IF_ERROR(WantRank(x, 3, "DeformConv: input 'X' (N x C x spatial)"));
  GE_RETURN_IF_ERROR(WantRank(w, 3, "DeformConv: input 'W' (filters x C / group x kernel)"));
  if (!w.ranked) {
    c.SetOutput(0, UnrankedTensor(x.dtype));
    return {};
  }
  if (x.ranked && x.rank() != w.rank()) {
    return Bad(c.node(), fmt::format("input 'X' has shape {} and 'W' {}, wanted equal ranks",
                                     Show(c.dims(), x.dims), Show(c.dims(), w.dims)));
  }
  GE_RETURN_IF_ERROR(CheckDeformChannels(c));
  GE_ASSIGN_OR_RETURN(std::vector<int64_t> kernel, DeformKernel(c));
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
  const auto axes = static_cast<int64_t>(spatial.size());
  GE_RETURN_IF_ERROR(WantPerTap(c, 2, "offset", dims, kernel, axes));
  GE_RETURN_IF_ERROR(WantPerTap(c, 4, "mask", dims, kernel, 1));
  return SetTensor(c, 0, x.dtype, std::move(dims));
}

// A multiply and an add for each weight of a filter, per output element.
Work EffortDeformConv(const Node&, std::span<const Type> in, std::span<const Type> out) {
  double filter = 0;
  if (in.size() > 1 && !out.empty() && in[1].is_static() && in[1].rank() > 0) {
    const double filters = static_cast<double>(in[1].dims[0].value);
    filter = filters > 0 ? ElementsOf(in[1]) / filters : 0;
  }
  return {filter > 0 ? 2 * filter * ElementsOf(out[0]) : 0, BytesOf(in, out)};
}

OpDef DeformConvRecord() {
  OpDef op{"", "DeformConv", 22, {}, {{"Y", kFloats, "T"}}, {}, InferDeformConv, EffortDeformConv};
  op.inputs = {{"X", kFloats, "T"},
               {"W", kFloats, "T"},
               {"offset", kFloats, "T"},
               {"B", kFloats, "T", Arity::kOptional},
               {"mask", kFloats, "T", Arity::kOptional}};
  op.attrs = {{"dilations", AttrKind::kInts},    {"group", AttrKind::kInt, 1},
              {"kernel_shape", AttrKind::kInts}, {"offset_group", AttrKind::kInt, 1},
              {"pads", AttrKind::kInts},         {"strides", AttrKind::kInts}};
  return op;
}

}  // namespace

// Conv whose taps are moved by offsets, interpolated linearly and weighted by a mask.
GE_OP(deform_conv) = DeformConvRecord();

}  // namespace ge
