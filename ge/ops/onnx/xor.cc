#include "ge/ops/elementwise.h"

namespace ge {
namespace {

std::optional<Dim> FoldXor(DimTable&, Dim a, Dim b) {
  if (!a.known() || !b.known()) return std::nullopt;
  return KnownDim((a.value != 0) != (b.value != 0));
}

Status InferXor(InferContext& c) { return InferFolded(c, FoldXor); }

}  // namespace

// Just one is true, with broadcasting.
GE_OP(xor) = Binary("Xor", 7, Bit(DType::kBool), InferXor, Bit(DType::kBool));

}  // namespace ge
