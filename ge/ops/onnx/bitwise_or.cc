#include "ge/ops/elementwise.h"

namespace ge {
namespace {

std::optional<Dim> FoldBitwiseOr(DimTable&, Dim a, Dim b) {
  if (!a.known() || !b.known()) return std::nullopt;
  return KnownDim(a.value | b.value);
}

Status InferBitwiseOr(InferContext& c) { return InferFolded(c, FoldBitwiseOr); }

}  // namespace

// The bits that at least one has, with broadcasting.
GE_OP(bitwise_or) = Binary("BitwiseOr", 18, kInts, InferBitwiseOr);

}  // namespace ge
