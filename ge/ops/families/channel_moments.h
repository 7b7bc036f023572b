// Shared by the operators of batch normalisation in training: X is N x C x ..., and each other
// tensor has one number a channel. Not an operator. Any thread may call.
#pragma once

#include <vector>

#include "ge/ops/families/normalization.h"

namespace ge {

inline constexpr DTypeSet kMomentTypes = Bit(DType::kFloat) | Bit(DType::kDouble);

// Inputs from `first` on hold one number for each channel of X, given as input `x`.
inline Status WantChannels(InferContext& context, size_t x, size_t first,
                           std::initializer_list<const char*> names, Dim* channels) {
  const Type& t = context.input_type(x);
  GE_RETURN_IF_ERROR(WantRank(t, 2, context.node().op + ": input 'X' (N x C x spatial)"));
  *channels = t.ranked ? t.dims[1] : context.FreshDim("channels", false);
  for (const char* name : names) {
    GE_RETURN_IF_ERROR(WantShape(context, first++, name, {{*channels}}));
  }
  return {};
}

// All axes but the channels'.
inline std::vector<int64_t> AxesButChannels(size_t rank) {
  std::vector<int64_t> axes = {0};
  for (size_t i = 2; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

// Reshapes a vector of channels to [C, 1, ...], to broadcast over X.
inline ValueId OverChannels(Parts* parts, ValueId value, size_t rank) {
  Type type = parts->TypeOf(value);
  std::vector<int64_t> axes;
  for (size_t i = 2; i < rank; ++i) {
    axes.push_back(static_cast<int64_t>(i) - 1);
    type.dims.push_back(KnownDim(1));
  }
  return axes.empty() ? value
                      : parts->Add("Unsqueeze", {value, parts->Ints(axes)}, std::move(type));
}

}  // namespace ge
