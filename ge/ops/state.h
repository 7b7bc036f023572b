// What Read and Assign share: the state that a node's first effect names. Not the state's value.
// Any thread may call.
#pragma once

#include "ge/ops/infer_shapes.h"

namespace ge {

// The type of the state; nullptr when the context does not show states. Refuses a node whose first
// effect is not on a state.
Result<const Type*> StateType(InferContext& context);

}  // namespace ge
