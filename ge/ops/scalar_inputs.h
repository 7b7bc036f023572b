// Checks scalar arguments of operators: sizes given by one-element inputs, and the dtype given by
// an attribute. Any thread may call.
#pragma once

#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"

namespace ge {

// Input `i` has one element; exporters also write one-element vectors for scalars.
inline Status WantScalar(InferContext& context, size_t i, const char* name) {
  const Type& t = context.input_type(i);
  const bool scalar =
      !t.ranked || t.rank() == 0 || (t.rank() == 1 && (!t.dims[0].known() || t.dims[0].value == 1));
  if (scalar) return {};
  return Bad(context.node(), fmt::format("input '{}' has shape {}, wanted a scalar", name,
                                         Show(context.dims(), t.dims)));
}

// The size in scalar input `i`, a fresh symbol when it is not known.
inline Result<Dim> ScalarSize(InferContext& context, size_t i, const char* name, int64_t least) {
  GE_RETURN_IF_ERROR(WantScalar(context, i, name));
  const auto content = Content(context, i);
  if (!content || content->size() != 1) return context.FreshDim(name, true);
  const Dim size = content->front();
  if (size.known() && size.value < least) {
    return Bad(context.node(),
               fmt::format("input '{}' is {}, wanted at least {}", name, size.value, least));
  }
  return size;
}

// The dtype in attribute `name`; `absent` where it has no default.
inline Result<DType> DTypeAttr(const Node& n, const char* name, DTypeSet legal,
                               DType absent = DType::kUndefined) {
  const int64_t number = HasAttr(n, name) ? AttrInt(n, name) : static_cast<int64_t>(absent);
  const auto dtype = static_cast<DType>(number);
  const bool fits = number > 0 && number < kDTypeCount && (legal & Bit(dtype)) != 0;
  if (fits) return dtype;
  std::string names;
  for (int i = 1; i < kDTypeCount; ++i) {
    if ((legal & Bit(static_cast<DType>(i))) == 0) continue;
    names +=
        fmt::format("{}{} ({})", names.empty() ? "" : ", ", i, DTypeName(static_cast<DType>(i)));
  }
  return Bad(n, fmt::format("attribute '{}' is {}, wanted one of {}", name, number, names));
}

}  // namespace ge
