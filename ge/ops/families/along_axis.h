// The rule of operators working along one axis and keeping the shape. Any thread may call.
#pragma once

#include "ge/ops/infer_shapes.h"

namespace ge {

// Output 0 = type of input 0; attribute 'axis' (absent = -1) must be one of its axes. A scalar is
// one element along an axis of its own.
inline Status InferAlongAxis(InferContext& context) {
  const Type& x = context.input_type(0);
  if (x.ranked) {
    const int64_t rank = x.rank() == 0 ? 1 : static_cast<int64_t>(x.rank());
    const auto axis = NormalizeAxis(AttrInt(context.node(), "axis"), rank, "attribute 'axis'");
    if (!axis.ok()) return Bad(context.node(), axis.status().message());
  }
  return InferSame(context);
}

}  // namespace ge
