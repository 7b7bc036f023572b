#include "ge/ops/elementwise.h"

namespace ge {
namespace {

std::optional<Dim> FoldAdd(DimTable& d, Dim a, Dim b) { return d.Add(a, b); }

Status InferAdd(InferContext& c) { return InferFolded(c, FoldAdd); }

}  // namespace

// a + b with broadcasting.
GE_OP(add) = Binary("Add", 14, kNumeric, InferAdd);

}  // namespace ge
