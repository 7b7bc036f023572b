// Record and rule shared by ArgMax and ArgMin. Any thread may call.
#pragma once

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {

inline Status InferArgReduction(InferContext& context) {
  const Type& x = context.input_type(0);
  if (!x.ranked) {
    context.SetOutput(0, UnrankedTensor(DType::kInt64));
    return {};
  }
  const int64_t rank = static_cast<int64_t>(x.rank());
  if (rank == 0) return Bad(context.node(), "input 'data' is a scalar, wanted rank 1 or more");
  const auto axis = NormalizeAxis(AttrInt(context.node(), "axis"), rank, "attribute 'axis'");
  if (!axis.ok()) return Bad(context.node(), axis.status().message());
  std::vector<Dim> dims = x.dims;
  if (dims[static_cast<size_t>(*axis)] == KnownDim(0)) {
    return Bad(context.node(), "input 'data' has shape " + Show(context.dims(), dims) +
                                   ", wanted at least one element along axis " +
                                   std::to_string(*axis));
  }
  if (AttrInt(context.node(), "keepdims") != 0) {
    dims[static_cast<size_t>(*axis)] = KnownDim(1);
  } else {
    dims.erase(dims.begin() + *axis);
  }
  return SetTensor(context, 0, DType::kInt64, std::move(dims));
}

inline OpDef ArgReduction(const char* name) {
  OpDef op{"", name, 13, {{"data", kNumeric, "T"}}, {{"reduced", Bit(DType::kInt64)}}, {}};
  op.attrs = {{"axis", AttrKind::kInt, 0},
              {"keepdims", AttrKind::kInt, 1},
              {"select_last_index", AttrKind::kInt, 0}};
  op.infer = InferArgReduction;
  op.work = PerInput<1>;
  return op;
}

}  // namespace ge
