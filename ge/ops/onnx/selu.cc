#include "ge/ops/elementwise.h"
#include "ge/ops/finite_attrs.h"

namespace ge {
namespace {

Status InferSelu(InferContext& c) {
  GE_RETURN_IF_ERROR(WantFinite(c.node(), {"alpha", "gamma"}));
  return InferSame(c);
}

OpDef SeluRecord() {
  OpDef op = Unary<12>("Selu", 22, kFloats, "X", "Y");
  op.attrs = {{"alpha", AttrKind::kFloat, 1.6732632f}, {"gamma", AttrKind::kFloat, 1.050701f}};
  op.infer = InferSelu;
  return op;
}

}  // namespace

// gamma * x, or gamma * alpha * (e^x - 1) where x is not positive.
GE_OP(selu) = SeluRecord();

}  // namespace ge
