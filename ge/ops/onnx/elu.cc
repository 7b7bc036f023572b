#include "ge/ops/elementwise.h"
#include "ge/ops/finite_attrs.h"

namespace ge {
namespace {

Status InferElu(InferContext& c) {
  GE_RETURN_IF_ERROR(WantFinite(c.node(), {"alpha"}));
  return InferSame(c);
}

OpDef EluRecord() {
  OpDef op = Unary<12>("Elu", 22, kFloats, "X", "Y");
  op.attrs = {{"alpha", AttrKind::kFloat, 1.0f}};
  op.infer = InferElu;
  return op;
}

}  // namespace

// x, or alpha * (e^x - 1) where x is negative.
GE_OP(elu) = EluRecord();

}  // namespace ge
