#include "ge/ops/elementwise.h"

namespace ge {
namespace {

// FloorDiv and truncation agree when neither side is negative.
std::optional<Dim> FoldDiv(DimTable& d, Dim a, Dim b) {
  if (b == KnownDim(0)) return std::nullopt;  // the data decide whether it is ever computed
  if (a.known() && b.known()) {
    if (a.value == INT64_MIN && b.value == -1) return std::nullopt;
    return KnownDim(a.value / b.value);
  }
  if (LowerBound(d, a).value_or(-1) < 0 || LowerBound(d, b).value_or(0) < 1) return std::nullopt;
  return d.FloorDiv(a, b);
}

Status InferDiv(InferContext& c) { return InferFolded(c, FoldDiv); }

}  // namespace

// a / b with broadcasting; integers truncate toward zero.
GE_OP(div) = Binary("Div", 14, kNumeric, InferDiv);

}  // namespace ge
