#include "ge/ops/compare_dims.h"
#include "ge/ops/elementwise.h"

namespace ge {
namespace {

std::optional<Dim> FoldLess(DimTable& d, Dim a, Dim b) { return LessDim(d, a, b); }

Status InferLess(InferContext& c) { return InferFolded(c, FoldLess, DType::kBool); }

}  // namespace

// a < b with broadcasting.
GE_OP(less) = Binary("Less", 13, kNumeric, InferLess, Bit(DType::kBool));

}  // namespace ge
