#include "ge/ops/elementwise.h"

namespace ge {
namespace {

std::optional<Dim> FoldBitwiseAnd(DimTable&, Dim a, Dim b) {
  if (!a.known() || !b.known()) return std::nullopt;
  return KnownDim(a.value & b.value);
}

Status InferBitwiseAnd(InferContext& c) { return InferFolded(c, FoldBitwiseAnd); }

}  // namespace

// The bits that both have, with broadcasting.
GE_OP(bitwise_and) = Binary("BitwiseAnd", 18, kInts, InferBitwiseAnd);

}  // namespace ge
