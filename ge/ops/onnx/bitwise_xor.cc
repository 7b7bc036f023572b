#include "ge/ops/elementwise.h"

namespace ge {
namespace {

std::optional<Dim> FoldBitwiseXor(DimTable&, Dim a, Dim b) {
  if (!a.known() || !b.known()) return std::nullopt;
  return KnownDim(a.value ^ b.value);
}

Status InferBitwiseXor(InferContext& c) { return InferFolded(c, FoldBitwiseXor); }

}  // namespace

// The bits that just one has, with broadcasting.
GE_OP(bitwise_xor) = Binary("BitwiseXor", 18, kInts, InferBitwiseXor);

}  // namespace ge
