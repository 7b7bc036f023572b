// Checks and steps of decompositions shared by the normalising operators. Not a rule of its own:
// see infer_shapes.h. Any thread may call.
#pragma once

#include <fmt/format.h>

#include <cmath>

#include "ge/ops/decompose.h"
#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {

inline Status WantEpsilon(const Node& n) {
  const auto epsilon = static_cast<float>(AttrFloat(n, "epsilon"));
  if (std::isfinite(epsilon) && epsilon >= 0) return {};
  return Bad(n, fmt::format("attribute 'epsilon' is {}, wanted a finite number that is not "
                            "negative",
                            epsilon));
}

// stash_type: the dtype of the first stage's computation; any float.
inline Status WantStash(const Node& n) {
  const int64_t stash = AttrInt(n, "stash_type");
  for (const DType t : {DType::kFloat, DType::kFloat16, DType::kDouble, DType::kBfloat16}) {
    if (stash == static_cast<int64_t>(t)) return {};
  }
  return Bad(n, fmt::format("attribute 'stash_type' is {}, wanted 1 (f32), 10 (f16), 11 (f64) or "
                            "16 (bf16)",
                            stash));
}

// Input 1, the scale, must broadcast to input 0.
inline Status WantScaleThatBroadcasts(InferContext& context) {
  const Type &x = context.input_type(0), &scale = context.input_type(1);
  if (!x.ranked || !scale.ranked) return {};
  bool fits = scale.rank() <= x.rank();
  for (size_t d = 0; fits && d < scale.rank(); ++d) {
    const Dim &mine = scale.dims[d], &wide = x.dims[x.rank() - scale.rank() + d];
    fits = !mine.known() || mine == KnownDim(1) || !wide.known() || mine == wide;
  }
  if (fits) return {};
  return Bad(context.node(),
             fmt::format("input 'scale' has shape {}, wanted one that broadcasts to X's "
                         "{}",
                         Show(context.dims(), scale.dims), Show(context.dims(), x.dims)));
}

// X is N x C x ..., inputs 1 and 2 hold one number a channel; the output is as X.
inline Status InferPerChannel(InferContext& context, const char* scale, const char* bias) {
  const Type& x = context.input_type(0);
  GE_RETURN_IF_ERROR(WantEpsilon(context.node()));
  if (x.ranked && x.rank() < 2) {
    return Bad(context.node(), fmt::format("input 0 has shape {}, wanted rank 2 or more (N x C x "
                                           "spatial)",
                                           Show(context.dims(), x.dims)));
  }
  const Dim channels = x.ranked ? x.dims[1] : context.FreshDim("channels", false);
  GE_RETURN_IF_ERROR(WantShape(context, 1, scale, {{channels}}));
  GE_RETURN_IF_ERROR(WantShape(context, 2, bias, {{channels}}));
  return InferSame(context);
}

// x less its mean over `axes`, and the variance in the shape `row`.
struct Centred {
  ValueId d = 0, variance = 0;
  Type row;
};
inline Centred AddCentred(Parts* parts, ValueId x, const std::vector<int64_t>& axes) {
  const Type type = parts->TypeOf(x);
  Centred c;
  c.row = type;
  for (int64_t a : axes) c.row.dims[static_cast<size_t>(a)] = KnownDim(1);
  const ValueId which = parts->Ints(axes);
  c.d = parts->Add("Sub", {x, parts->Add("ReduceMean", {x, which}, c.row)}, type);
  c.variance = parts->Add("ReduceMean", {parts->Add("Mul", {c.d, c.d}, type), which}, c.row);
  return c;
}

// d / sqrt(variance + epsilon) of a node with the attribute epsilon.
inline ValueId AddStandard(Parts* parts, const Node& node, const Centred& centred) {
  const Type type = parts->TypeOf(centred.d);
  const ValueId epsilon = parts->Scalar(type.dtype, AttrFloat(node, "epsilon"));
  const ValueId moved = parts->Add("Add", {centred.variance, epsilon}, centred.row);
  return parts->Add("Div", {centred.d, parts->Add("Sqrt", {moved}, centred.row)}, type);
}

// y * inputs[1] + inputs[2], one number a channel, for y of rank 3 or more; in y's dtype, so a
// 16-bit result is rounded once, behind it.
inline ValueId AddPerChannel(Parts* parts, const Node& node, ValueId y) {
  const Type type = parts->TypeOf(y);
  std::vector<int64_t> axes;
  for (size_t a = 1; a + 1 < type.rank(); ++a) axes.push_back(static_cast<int64_t>(a));
  const ValueId which = parts->Ints(axes);
  for (size_t i = 1; i < 3; ++i) {
    const ValueId given = parts->Cast(node.inputs[i], type.dtype);
    Type wide = parts->TypeOf(given);
    wide.dims.resize(type.rank() - 1, KnownDim(1));
    const ValueId v = parts->Add("Unsqueeze", {given, which}, wide);
    y = parts->Add(i == 1 ? "Mul" : "Add", {y, v}, type);
  }
  return y;
}

}  // namespace ge
