#include "ge/ops/elementwise.h"

namespace ge {
namespace {

Status InferAbs(InferContext& c) {
  GE_RETURN_IF_ERROR(InferSame(c));
  auto content = Content(c, 0);
  if (!content) return {};
  for (Dim& v : *content) {
    if (v.known() && v.value != INT64_MIN) {
      v = KnownDim(v.value < 0 ? -v.value : v.value);
    } else if (LowerBound(c.dims(), v).value_or(-1) < 0) {
      return {};
    }
  }
  SetContent(c, 0, c.input_type(0).dtype, std::move(*content));
  return {};
}

OpDef AbsRecord() {
  OpDef op = Unary<1>("Abs", 13, kNumeric, "X", "Y");
  op.infer = InferAbs;
  return op;
}

}  // namespace

// |x|; the least number of a signed type stays as it is.
GE_OP(abs) = AbsRecord();

}  // namespace ge
