#include "ge/ops/elementwise.h"
#include "ge/ops/finite_attrs.h"

namespace ge {
namespace {

Status InferLeakyRelu(InferContext& c) {
  GE_RETURN_IF_ERROR(WantFinite(c.node(), {"alpha"}));
  return InferSame(c);
}

OpDef LeakyReluRecord() {
  OpDef op = Unary<2>("LeakyRelu", 16, kFloats, "X", "Y");
  op.attrs = {{"alpha", AttrKind::kFloat, 0.01f}};
  op.infer = InferLeakyRelu;
  return op;
}

}  // namespace

// x, or alpha * x where x is negative.
GE_OP(leaky_relu) = LeakyReluRecord();

}  // namespace ge
