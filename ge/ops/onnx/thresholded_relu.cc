#include "ge/ops/elementwise.h"
#include "ge/ops/finite_attrs.h"

namespace ge {
namespace {

Status InferThresholdedRelu(InferContext& c) {
  GE_RETURN_IF_ERROR(WantFinite(c.node(), {"alpha"}));
  return InferSame(c);
}

OpDef ThresholdedReluRecord() {
  OpDef op = Unary<1>("ThresholdedRelu", 22, kFloats, "X", "Y");
  op.attrs = {{"alpha", AttrKind::kFloat, 1.0f}};
  op.infer = InferThresholdedRelu;
  return op;
}

}  // namespace

// x where it is greater than alpha, else 0.
GE_OP(thresholded_relu) = ThresholdedReluRecord();

}  // namespace ge
