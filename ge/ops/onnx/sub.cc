#include "ge/ops/elementwise.h"

namespace ge {
namespace {

std::optional<Dim> FoldSub(DimTable& d, Dim a, Dim b) { return d.Sub(a, b); }

Status InferSub(InferContext& c) { return InferFolded(c, FoldSub); }

}  // namespace

// a - b with broadcasting.
GE_OP(sub) = Binary("Sub", 14, kNumeric, InferSub);

}  // namespace ge
