// Reductions of known lists, as shape computations apply them to the sizes of a tensor. Any thread
// may call.
#pragma once

#include "ge/ops/families/reduction.h"
#include "ge/ops/known_ints.h"

namespace ge {

// InferReduce, then the content of a list reduced to one element, folded from left to right. An
// empty list has no content here.
inline Status InferFoldedReduction(InferContext& context, DimFold fold) {
  GE_RETURN_IF_ERROR(InferReduce(context));
  const auto content = Content(context, 0);
  const Type& x = context.input_type(0);
  if (!content || content->empty() || !x.ranked || x.rank() != 1) return {};
  const bool given = context.input_count() > 1 && context.has_input(1);
  const auto axes = given ? Numbers(context, 1) : std::optional(std::vector<int64_t>());
  if (!axes) return {};
  if (axes->empty() && AttrInt(context.node(), "noop_with_empty_axes") != 0) {
    PassContent(context);
    return {};
  }
  Dim all = content->front();
  for (size_t i = 1; i < content->size(); ++i) {
    const auto next = fold(context.dims(), all, (*content)[i]);
    if (!next) return {};
    all = *next;
  }
  SetContent(context, 0, x.dtype, {all});
  return {};
}

inline OpDef FoldedReduction(const char* name, int32_t since, DTypeSet types,
                             Status (*infer)(InferContext&)) {
  OpDef op = Reduction(name, since, types);
  op.infer = infer;
  return op;
}

}  // namespace ge
