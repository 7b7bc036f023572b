// Shared by Cast and CastLike: attributes, and the type and content of the output. Not an operator.
// Any thread may call.
#pragma once

#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"

namespace ge {

inline constexpr DTypeSet kCastTypes = kAnyDType & ~kComplexes;  // Cast takes float6 too

// Output 0 = input 0 converted to `to`, with its content if small and integer.
inline Status InferCastTo(InferContext& context, DType to) {
  const std::string_view mode = AttrString(context.node(), "round_mode");
  if (mode != "up" && mode != "down" && mode != "nearest") {
    return Bad(context.node(), fmt::format("attribute 'round_mode' is '{:.64}', wanted up, down or "
                                           "nearest",
                                           mode));
  }
  const DType from = context.input_type(0).dtype;
  Type t = context.input_type(0);
  t.dtype = to;
  context.SetOutput(0, std::move(t));
  if (!IsInteger(to) && to != DType::kBool) return {};
  auto content = Content(context, 0);
  if (!content || (!IsInteger(from) && from != DType::kBool)) return {};
  for (Dim& d : *content) {
    if (to != DType::kBool) break;
    if (!d.known()) return {};
    d = KnownDim(d.value != 0);
  }
  SetContent(context, 0, to, std::move(*content));
  return {};
}

}  // namespace ge
