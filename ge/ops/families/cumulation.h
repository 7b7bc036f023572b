// Record and rule shared by CumSum and CumProd. Any thread may call.
#pragma once

#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {

// The axis decides no shape: if unknown now, it is checked when the node runs.
inline Status InferCumulation(InferContext& context) {
  const Type& x = context.input_type(0);
  const Type& axis = context.input_type(1);
  const auto count = ElementCount(axis);
  if (axis.ranked && (axis.rank() > 1 || (count && *count != 1))) {
    return Bad(context.node(),
               "input 'axis' has shape " + Show(context.dims(), axis.dims) + ", wanted a scalar");
  }
  const auto named = Numbers(context, 1);
  if (x.ranked && x.rank() == 0)
    return Bad(context.node(), "input 'x' is a scalar, wanted an axis");
  if (x.ranked && named && named->size() == 1) {
    const auto found = NormalizeAxis((*named)[0], static_cast<int64_t>(x.rank()), "input 'axis'");
    if (!found.ok()) return Bad(context.node(), found.status().message());
  }
  return InferSame(context);
}

inline OpDef Cumulation(const char* name, int32_t since) {
  const DTypeSet types = kFloats | kIndex | Bit(DType::kUint32) | Bit(DType::kUint64);
  OpDef op{"", name, since, {}, {{"y", types, "T"}}, {}};
  op.inputs = {{"x", types, "T"}, {"axis", kIndex, "T2"}};
  op.attrs = {{"exclusive", AttrKind::kInt, 0}, {"reverse", AttrKind::kInt, 0}};
  op.infer = InferCumulation;
  op.work = PerOutput<1>;
  return op;
}

}  // namespace ge
