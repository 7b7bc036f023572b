#include <fmt/format.h>

#include "ge/ops/families/sequences.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferNonZero(InferContext& c) {
  const Type& x = c.input_type(0);
  const Dim count = c.FreshDim("nonzero", true);
  const Dim rank = x.ranked ? KnownDim(static_cast<int64_t>(x.rank())) : c.FreshDim("rank", true);
  return SetTensor(c, 0, DType::kInt64, {rank, count});
}

}  // namespace

// Places of the elements that are not 0, one column each, in row-major order.
GE_OP(non_zero) = {
    "", "NonZero",    13,          {{"X", kClassic, "T"}}, {{"Y", Bit(DType::kInt64)}},
    {}, InferNonZero, PerOutput<0>};

}  // namespace ge
