#include "ge/ops/elementwise.h"
#include "ge/ops/finite_attrs.h"

namespace ge {
namespace {

Status InferCelu(InferContext& c) {
  GE_RETURN_IF_ERROR(WantFinite(c.node(), {"alpha"}));
  if (AttrFloat(c.node(), "alpha") == 0) {
    return Bad(c.node(), "attribute 'alpha' is 0, wanted a number that x can be divided by");
  }
  return InferSame(c);
}

OpDef CeluRecord() {
  OpDef op = Unary<12>("Celu", 28, kFloats, "X", "Y");
  op.attrs = {{"alpha", AttrKind::kFloat, 1.0f}};
  op.infer = InferCelu;
  return op;
}

}  // namespace

// max(0, x) + min(0, alpha * (e^(x / alpha) - 1)).
GE_OP(celu) = CeluRecord();

}  // namespace ge
