#include "ge/ops/elementwise.h"

namespace ge {
namespace {

Status InferSign(InferContext& c) {
  GE_RETURN_IF_ERROR(InferSame(c));
  auto content = Content(c, 0);
  if (!content) return {};
  for (Dim& v : *content) {
    if (v.known()) {
      v = KnownDim((v.value > 0) - (v.value < 0));
    } else if (LowerBound(c.dims(), v).value_or(0) > 0) {
      v = KnownDim(1);
    } else {
      return {};
    }
  }
  SetContent(c, 0, c.input_type(0).dtype, std::move(*content));
  return {};
}

OpDef SignRecord() {
  OpDef op = Unary<1>("Sign", 13, kNumeric, "input", "output");
  op.infer = InferSign;
  return op;
}

}  // namespace

// 1, 0 or -1 as x is positive, 0 or negative; NaN stays NaN.
GE_OP(sign) = SignRecord();

}  // namespace ge
