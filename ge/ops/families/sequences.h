// Shared by operators on sequences and optionals: building and unwrapping their types. Not their
// execution (ge/control/host). Any thread may call.
#pragma once

#include "ge/ops/infer_shapes.h"

namespace ge {

// Sequences and optionals of `element`.
Type SequenceType(Type element);
Type OptionalType(Type element);
// The element type of input `i`, which must be a sequence; unknown for some empty ones.
Result<Type> ElementOfSequence(InferContext& context, size_t i);
// The common type of two elements of a sequence: ONNX wants one dtype, sizes may differ.
Result<Type> CommonElement(InferContext& context, const Type& left, const Type& right);

}  // namespace ge
