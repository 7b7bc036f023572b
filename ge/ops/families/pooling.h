// Records and rules shared by the pooling operators. Any thread may call.
#pragma once

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {

// N x C x spatial -> N x C x windows; MaxPool's second output too. kernel_shape, strides, pads,
// dilations, auto_pad, ceil_mode as in ONNX.
Status InferPool(InferContext& context);
// One operation per element of each window.
Work PoolWork(const Node& node, std::span<const Type> in, std::span<const Type> out);
// Every spatial size becomes 1.
Status InferGlobalPool(InferContext& context);

// The attributes of pooling, and one more when given.
std::vector<AttrDef> PoolAttrs(AttrDef extra);

}  // namespace ge
