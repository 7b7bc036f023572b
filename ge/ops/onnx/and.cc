#include "ge/ops/elementwise.h"

namespace ge {
namespace {

std::optional<Dim> FoldAnd(DimTable&, Dim a, Dim b) {
  if (!a.known() || !b.known()) return std::nullopt;
  return KnownDim(a.value != 0 && b.value != 0);
}

Status InferAnd(InferContext& c) { return InferFolded(c, FoldAnd); }

}  // namespace

// Both are true, with broadcasting.
GE_OP(and) = Binary("And", 7, Bit(DType::kBool), InferAnd, Bit(DType::kBool));

}  // namespace ge
