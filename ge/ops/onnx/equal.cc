#include "ge/ops/elementwise.h"

namespace ge {
namespace {

// Two symbolic sizes that are not provably equal may still be.
std::optional<Dim> FoldEqual(DimTable& d, Dim a, Dim b) {
  if (a == b) return KnownDim(1);
  if (a.known() && b.known()) return KnownDim(0);
  const Dim& symbolic = a.known() ? b : a;
  const Dim& known = a.known() ? a : b;
  if (!known.known()) return std::nullopt;
  const auto low = LowerBound(d, symbolic), high = UpperBound(d, symbolic);
  if ((low && known.value < *low) || (high && known.value > *high)) return KnownDim(0);
  return std::nullopt;
}

Status InferEqual(InferContext& c) { return InferFolded(c, FoldEqual, DType::kBool); }

}  // namespace

// a == b with broadcasting.
GE_OP(equal) = Binary("Equal", 19, kNumeric | Bit(DType::kBool) | Bit(DType::kString), InferEqual,
                      Bit(DType::kBool));

}  // namespace ge
