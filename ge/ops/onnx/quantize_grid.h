// Scales and zero points of QuantizeLinear and DequantizeLinear: one for the whole tensor, one an
// index of an axis, or one a block along an axis. Not an operator. Any thread may call.
#pragma once

#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"

namespace ge {

inline constexpr DTypeSet kQuantizedTypes =
    Bit(DType::kInt8) | Bit(DType::kUint8) | Bit(DType::kInt16) | Bit(DType::kUint16) | kFloat8s |
    kFloat6s | Bit(DType::kInt4) | Bit(DType::kUint4) | Bit(DType::kFloat4e2m1) |
    Bit(DType::kInt2) | Bit(DType::kUint2);
inline constexpr DTypeSet kShortFloats =
    Bit(DType::kFloat) | Bit(DType::kFloat16) | Bit(DType::kBfloat16);

// At most one axis, all of its sizes one: a scalar in all but name.
inline bool IsOneElement(const Type& type) {
  return type.ranked && type.rank() <= 1 && (type.rank() == 0 || type.dims[0] == KnownDim(1));
}

// The scale's shape for blocks of `block` along `axis` of x.
inline Status CheckScaleBlocks(InferContext& context, const Type& x, const Type& scale,
                               int64_t axis, int64_t block) {
  if (scale.rank() != x.rank()) {
    return Bad(context.node(),
               fmt::format("the scale has shape {}, wanted rank {} as x has: block_size "
                           "is {}",
                           Show(context.dims(), scale.dims), x.rank(), block));
  }
  for (size_t d = 0; d < x.rank(); ++d) {
    if (!x.dims[d].known() || !scale.dims[d].known()) continue;
    const int64_t size = x.dims[d].value;
    const bool blocked = static_cast<int64_t>(d) == axis;
    const int64_t wanted = blocked ? size / block + (size % block != 0) : size;
    if (scale.dims[d].value != wanted) {
      return Bad(context.node(),
                 fmt::format("the scale has shape {} for x of shape {}, wanted {} along axis {}: "
                             "blocks of {} lie along axis {}",
                             Show(context.dims(), scale.dims), Show(context.dims(), x.dims), wanted,
                             d, block, axis));
    }
  }
  return {};
}

// Inputs 0, 1 and 2: the tensor, its scale and its zero point.
inline Status CheckQuantizeGrid(InferContext& context) {
  const int64_t block = AttrInt(context.node(), "block_size");
  if (block < 0) {
    return Bad(context.node(),
               fmt::format("attribute 'block_size' is {}, wanted at least 0", block));
  }
  const Type& x = context.input_type(0);
  const Type& scale = context.input_type(1);
  if (!x.ranked || !scale.ranked) return {};
  if (context.input_count() > 2 && context.has_input(2)) {
    const Type& zero = context.input_type(2);
    if (!zero.ranked || !IsOneElement(zero) || !IsOneElement(scale)) {
      GE_RETURN_IF_ERROR(WantShape(context, 2, "zero point", scale.dims));
    }
  }
  if (IsOneElement(scale)) return {};
  const bool may_be_one = scale.rank() == 1 && !scale.dims[0].known();
  if (may_be_one && (x.rank() == 0 || block > 0)) return {};
  if (block == 0 && scale.rank() != 1) {
    return Bad(context.node(), fmt::format("the scale has shape {}, wanted a scalar or one axis: "
                                           "attribute 'block_size' is absent or 0",
                                           Show(context.dims(), scale.dims)));
  }
  // The default axis, 1, is not meant for a tensor of one axis.
  int64_t axis = 0;
  if (x.rank() != 1) {
    GE_ASSIGN_OR_RETURN(
        axis, NormalizeAxis(AttrInt(context.node(), "axis"), static_cast<int64_t>(x.rank()),
                            fmt::format("{}: attribute 'axis'", context.node().op)));
  }
  if (block > 0) return CheckScaleBlocks(context, x, scale, axis, block);
  const Dim size = x.dims[static_cast<size_t>(axis)];
  if (size.known() && scale.dims[0].known() && size != scale.dims[0]) {
    return Bad(context.node(),
               fmt::format("the scale has {} elements, wanted one or {} as axis {} of x "
                           "has: shape {}",
                           scale.dims[0].value, size.value, axis, Show(context.dims(), x.dims)));
  }
  return {};
}

}  // namespace ge
