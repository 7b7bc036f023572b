// Shared by Read and Assign: the state named by a node's first effect. Not the state's value. Any
// thread may call.
#pragma once

#include "ge/ops/infer_shapes.h"

namespace ge {

// The type of the state; nullptr when the context does not show states. Refuses a node whose first
// effect is not on a state.
Result<const Type*> StateType(InferContext& context);

}  // namespace ge
