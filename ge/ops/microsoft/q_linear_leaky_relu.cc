#include "ge/ops/microsoft/q_linear_map.h"

namespace ge {
namespace {

Status InferQLinearLeakyRelu(InferContext& c) {
  GE_RETURN_IF_ERROR(WantFiniteAttr(c.node(), "alpha"));
  return InferQLinearMap(c);
}

std::vector<ValueId> DecomposeQLinearLeakyRelu(Transaction& t, FunctionId fn, const Node& node) {
  return DecomposeQLinearMap(t, fn, node, "LeakyRelu", {{"alpha", AttrFloat(node, "alpha")}});
}

OpDef QLinearLeakyReluRecord() {
  OpDef op = QLinearMapRecord("QLinearLeakyRelu", InferQLinearLeakyRelu, DecomposeQLinearLeakyRelu);
  op.attrs = {{"alpha", AttrKind::kFloat, 0.01f}};
  return op;
}

}  // namespace

// LeakyRelu of a quantized tensor, quantized again.
GE_OP(microsoft_q_linear_leaky_relu) = QLinearLeakyReluRecord();

}  // namespace ge
