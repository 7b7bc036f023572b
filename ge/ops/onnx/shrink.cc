#include "ge/ops/elementwise.h"
#include "ge/ops/finite_attrs.h"

namespace ge {
namespace {

Status InferShrink(InferContext& c) {
  GE_RETURN_IF_ERROR(WantFinite(c.node(), {"bias", "lambd"}));
  return InferSame(c);
}

OpDef ShrinkRecord() {
  OpDef op = Unary<3>("Shrink", 9, kNumeric & ~Bit(DType::kBfloat16), "input", "output");
  op.attrs = {{"bias", AttrKind::kFloat, 0.0f}, {"lambd", AttrKind::kFloat, 0.5f}};
  op.infer = InferShrink;
  return op;
}

}  // namespace

// x + bias below -lambd, x - bias above lambd, 0 between them; integers truncate toward zero.
GE_OP(shrink) = ShrinkRecord();

}  // namespace ge
