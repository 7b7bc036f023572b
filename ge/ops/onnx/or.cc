#include "ge/ops/elementwise.h"

namespace ge {
namespace {

std::optional<Dim> FoldOr(DimTable&, Dim a, Dim b) {
  if (!a.known() || !b.known()) return std::nullopt;
  return KnownDim(a.value != 0 || b.value != 0);
}

Status InferOr(InferContext& c) { return InferFolded(c, FoldOr); }

}  // namespace

// At least one is true, with broadcasting.
GE_OP(or) = Binary("Or", 7, Bit(DType::kBool), InferOr, Bit(DType::kBool));

}  // namespace ge
