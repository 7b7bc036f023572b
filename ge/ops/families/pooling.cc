#include "ge/ops/families/pooling.h"

namespace ge {

Status InferPool(InferContext& context) {
  const Type& x = context.input_type(0);
  const auto set_both = [&](const std::vector<Dim>& dims) -> Status {
    GE_RETURN_IF_ERROR(SetTensor(context, 0, x.dtype, dims));
    if (context.output_count() > 1 && context.has_output(1)) {
      GE_RETURN_IF_ERROR(SetTensor(context, 1, DType::kInt64, dims));
    }
    return {};
  };
  const std::vector<int64_t>& kernel = AttrInts(context.node(), "kernel_shape");
  if (!x.ranked) {
    if (kernel.empty() || kernel.size() + 2 > kMaxRank) {
      return Bad(context.node(),
                 "attribute 'kernel_shape' must have one size per spatial axis, 1 to 14");
    }
    std::vector<Dim> dims;
    for (size_t i = 0; i < kernel.size() + 2; ++i) dims.push_back(context.FreshDim("pool", false));
    return set_both(dims);
  }
  GE_RETURN_IF_ERROR(WantRank(x, 3, "input 'X' (N x C x spatial)"));
  std::vector<Dim> dims = x.dims;
  const std::vector<Dim> spatial(dims.begin() + 2, dims.end());
  GE_ASSIGN_OR_RETURN(Window w, ReadWindow(context.node(), spatial, kernel));
  const bool ceil_mode = AttrInt(context.node(), "ceil_mode") != 0;
  for (size_t i = 0; i < spatial.size(); ++i) {
    GE_ASSIGN_OR_RETURN(dims[2 + i], WindowOutput(context.dims(), spatial[i], w, i, ceil_mode));
  }
  return set_both(dims);
}

Work PoolWork(const Node& node, std::span<const Type> in, std::span<const Type> out) {
  double window = 1;
  for (int64_t k : AttrInts(node, "kernel_shape")) window *= static_cast<double>(k);
  return {out.empty() ? 0 : window * ElementsOf(out[0]), BytesOf(in, out)};
}

Status InferGlobalPool(InferContext& context) {
  const Type& x = context.input_type(0);
  if (!x.ranked) {
    context.SetOutput(0, x);
    return {};
  }
  GE_RETURN_IF_ERROR(WantRank(x, 3, "input 'X' (N x C x spatial)"));
  std::vector<Dim> dims = x.dims;
  for (size_t i = 2; i < dims.size(); ++i) {
    if (dims[i] == KnownDim(0)) {
      return Bad(context.node(), "input 'X' has shape " + Show(context.dims(), x.dims) +
                                     ", wanted no empty spatial axis");
    }
    dims[i] = KnownDim(1);
  }
  return SetTensor(context, 0, x.dtype, std::move(dims));
}

std::vector<AttrDef> PoolAttrs(AttrDef extra) {
  return {{"auto_pad", AttrKind::kString, "NOTSET"},
          {"ceil_mode", AttrKind::kInt, 0},
          {"dilations", AttrKind::kInts},
          {"kernel_shape", AttrKind::kInts, true},
          {"pads", AttrKind::kInts},
          {"strides", AttrKind::kInts},
          extra};
}

}  // namespace ge
