// Rules shared by operators that pick or place elements by an index tensor. Any thread may
// call.
#pragma once

#include "ge/ops/op.h"

namespace ge {

// Attribute 'axis' (absent = 0) of input 0, whose rank is known; refuses a scalar.
Result<size_t> IndexedAxis(InferContext& context);
// Known indices of input 1 must lie in [-size, size); others are checked when the node
// runs.
Status CheckIndexContent(InferContext& context, Dim size);
// Input 1 of GatherElements and ScatterElements: the rank of the data and, but for the axis, no
// larger than it.
Status CheckElementIndices(InferContext& context, size_t axis);
// Attribute 'reduction' is none, add, mul, max or min.
Status CheckReduction(InferContext& context);
// The length of the index tuples in the last axis of input 1, which must be static, within
// 0 to `most`. nullopt when it is not known.
Result<std::optional<size_t>> TupleLength(InferContext& context, size_t most);

}  // namespace ge
