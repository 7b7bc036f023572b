#include "ge/ops/elementwise.h"

namespace ge {
namespace {

std::optional<Dim> FoldMul(DimTable& d, Dim a, Dim b) { return d.Mul(a, b); }

Status InferMul(InferContext& c) { return InferFolded(c, FoldMul); }

}  // namespace

// a * b with broadcasting.
GE_OP(mul) = Binary("Mul", 14, kNumeric, InferMul);

}  // namespace ge
