// Checks and steps of decompositions that the normalising operators share. Not a rule of its own:
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

// stash_type: the dtype that the first stage is computed in; any float.
inline Status WantStash(const Node& n) {
  const int64_t stash = AttrInt(n, "stash_type");
  for (const DType t : {DType::kFloat, DType::kFloat16, DType::kDouble, DType::kBfloat16}) {
    if (stash == static_cast<int64_t>(t)) return {};
  }
  return Bad(n, fmt::format("attribute 'stash_type' is {}, wanted 1 (f32), 10 (f16), 11 (f64) or "
                            "16 (bf16)",
                            stash));
}

// Input 1, the scale, is to broadcast to input 0.
inline Status WantScaleThatBroadcasts(InferContext& c) {
  const Type &x = c.input_type(0), &scale = c.input_type(1);
  if (!x.ranked || !scale.ranked) return {};
  bool fits = scale.rank() <= x.rank();
  for (size_t d = 0; fits && d < scale.rank(); ++d) {
    const Dim &mine = scale.dims[d], &wide = x.dims[x.rank() - scale.rank() + d];
    fits = !mine.known() || mine == KnownDim(1) || !wide.known() || mine == wide;
  }
  if (fits) return {};
  return Bad(c.node(), fmt::format("input 'scale' has shape {}, wanted one that broadcasts to X's "
                                   "{}",
                                   Show(c.dims(), scale.dims), Show(c.dims(), x.dims)));
}

// X is N x C x ..., inputs 1 and 2 hold one number a channel; the output is as X.
inline Status InferPerChannel(InferContext& c, const char* scale, const char* bias) {
  const Type& x = c.input_type(0);
  GE_RETURN_IF_ERROR(WantEpsilon(c.node()));
  if (x.ranked && x.rank() < 2) {
    return Bad(c.node(), fmt::format("input 0 has shape {}, wanted rank 2 or more (N x C x "
                                     "spatial)",
                                     Show(c.dims(), x.dims)));
  }
  const Dim channels = x.ranked ? x.dims[1] : c.FreshDim("channels", false);
  GE_RETURN_IF_ERROR(WantShape(c, 1, scale, {{channels}}));
  GE_RETURN_IF_ERROR(WantShape(c, 2, bias, {{channels}}));
  return InferSame(c);
}

// x less its mean over `axes`, and the variance, which has the shape `row`.
struct Centred {
  ValueId d = 0, variance = 0;
  Type row;
};
inline Centred AddCentred(Parts* p, ValueId x, const std::vector<int64_t>& axes) {
  const Type type = p->TypeOf(x);
  Centred c;
  c.row = type;
  for (int64_t a : axes) c.row.dims[static_cast<size_t>(a)] = KnownDim(1);
  const ValueId which = p->Ints(axes);
  c.d = p->Add("Sub", {x, p->Add("ReduceMean", {x, which}, c.row)}, type);
  c.variance = p->Add("ReduceMean", {p->Add("Mul", {c.d, c.d}, type), which}, c.row);
  return c;
}

// d / sqrt(variance + epsilon) of a node with that attribute.
inline ValueId AddStandard(Parts* p, const Node& node, const Centred& c) {
  const Type type = p->TypeOf(c.d);
  const ValueId epsilon = p->Scalar(type.dtype, AttrFloat(node, "epsilon"));
  const ValueId moved = p->Add("Add", {c.variance, epsilon}, c.row);
  return p->Add("Div", {c.d, p->Add("Sqrt", {moved}, c.row)}, type);
}

// y * inputs[1] + inputs[2], one number a channel, for y of rank 3 or more; in y's dtype, so that a
// 16-bit result is rounded once, behind it.
inline ValueId AddPerChannel(Parts* p, const Node& node, ValueId y) {
  const Type type = p->TypeOf(y);
  std::vector<int64_t> axes;
  for (size_t a = 1; a + 1 < type.rank(); ++a) axes.push_back(static_cast<int64_t>(a));
  const ValueId which = p->Ints(axes);
  for (size_t i = 1; i < 3; ++i) {
    const ValueId given = p->Cast(node.inputs[i], type.dtype);
    Type wide = p->TypeOf(given);
    wide.dims.resize(type.rank() - 1, KnownDim(1));
    const ValueId v = p->Add("Unsqueeze", {given, which}, wide);
    y = p->Add(i == 1 ? "Mul" : "Add", {y, v}, type);
  }
  return y;
}

}  // namespace ge
