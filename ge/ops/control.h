// Shared by If, Loop and Scan: their bodies and the unification of types. Not their execution.
// Captured values are trailing inputs of the node and trailing parameters of the bodies. Any thread
// may call.
#pragma once

#include "ge/ops/infer_shapes.h"

namespace ge {

// How many trailing inputs of a Loop or Scan are captures; absent = none. Ours, not ONNX's: the
// importer writes it when it closes a body, since the counts alone do not tell.
inline constexpr const char* kCapturesAttr = "captures";

Result<const Function*> CalleeOf(InferContext& context, std::string_view role);
// Checks the number of the body's parameters and results.
Status CheckCallee(InferContext& context, const Function& fn, size_t params, size_t results);
// kCapturesAttr, within the inputs after the first `fixed` ones.
Result<size_t> CaptureCount(InferContext& context, size_t fixed);
// A common type of both: sizes that differ become data-dependent, ranks that differ unknown.
// Different kinds or dtypes are refused.
Result<Type> Unify(InferContext& context, const Type& left, const Type& right,
                   std::string_view what);
// Output `i` = `element` with an axis of `length` put in at `axis` of the result.
Status SetStacked(InferContext& context, size_t i, const Type& element, int64_t axis, Dim length);

}  // namespace ge
