#include "ge/ops/microsoft/q_linear_map.h"

namespace ge {
namespace {

std::vector<ValueId> DecomposeQLinearSigmoid(Transaction& t, FunctionId fn, const Node& node) {
  return DecomposeQLinearMap(t, fn, node, "Sigmoid", {});
}

}  // namespace

// Sigmoid of a quantized tensor, quantized again.
GE_OP(microsoft_q_linear_sigmoid) = QLinearMapRecord("QLinearSigmoid", InferQLinearMap,
                                                     DecomposeQLinearSigmoid);

}  // namespace ge
