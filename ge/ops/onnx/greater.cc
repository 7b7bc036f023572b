#include "ge/ops/compare_dims.h"
#include "ge/ops/elementwise.h"

namespace ge {
namespace {

std::optional<Dim> FoldGreater(DimTable& d, Dim a, Dim b) { return LessDim(d, b, a); }

Status InferGreater(InferContext& c) { return InferFolded(c, FoldGreater, DType::kBool); }

}  // namespace

// a > b with broadcasting.
GE_OP(greater) = Binary("Greater", 13, kNumeric, InferGreater, Bit(DType::kBool));

}  // namespace ge
