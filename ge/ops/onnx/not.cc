#include "ge/ops/elementwise.h"

namespace ge {
namespace {

Status InferNot(InferContext& c) {
  GE_RETURN_IF_ERROR(InferSame(c));
  auto content = Content(c, 0);
  if (!content) return {};
  for (Dim& v : *content) {
    if (!v.known()) return {};
    v = KnownDim(v.value == 0);
  }
  SetContent(c, 0, DType::kBool, std::move(*content));
  return {};
}

OpDef NotRecord() {
  OpDef op = Unary<1>("Not", 1, Bit(DType::kBool), "X", "Y");
  op.infer = InferNot;
  return op;
}

}  // namespace

// The other truth value.
GE_OP(not ) = NotRecord();

}  // namespace ge
