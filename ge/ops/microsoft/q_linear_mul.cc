#include "ge/ops/microsoft/q_linear_pair.h"

namespace ge {
namespace {

std::vector<ValueId> DecomposeQLinearMul(Transaction& t, FunctionId fn, const Node& node) {
  return DecomposeQLinearPair(t, fn, node, "Mul");
}

}  // namespace

// The product of two quantized tensors, quantized again.
GE_OP(microsoft_q_linear_mul) = QLinearPairRecord("QLinearMul", DecomposeQLinearMul);

}  // namespace ge
