#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferSize(InferContext& c) {
  const Type& x = c.input_type(0);
  GE_RETURN_IF_ERROR(SetTensor(c, 0, DType::kInt64, {}));
  if (!x.ranked) return {};
  Dim count = KnownDim(1);
  for (const Dim& d : x.dims) {
    GE_ASSIGN_OR_RETURN(count, Checked(c.node(), c.dims().Mul(count, d), "the element count"));
  }
  SetContent(c, 0, DType::kInt64, {count});
  return {};
}

Work EffortSize(const Node&, std::span<const Type>, std::span<const Type>) { return {0, 8}; }

}  // namespace

// The number of elements of a tensor.
GE_OP(size) = {
    "", "Size",    25,        {{"data", kAnyDType, "T"}}, {{"size", Bit(DType::kInt64), "T1"}},
    {}, InferSize, EffortSize};

}  // namespace ge
