#include "ge/ops/microsoft/q_linear_pair.h"

namespace ge {
namespace {

std::vector<ValueId> DecomposeQLinearAdd(Transaction& t, FunctionId fn, const Node& node) {
  return DecomposeQLinearPair(t, fn, node, "Add");
}

}  // namespace

// The sum of two quantized tensors, quantized again.
GE_OP(microsoft_q_linear_add) = QLinearPairRecord("QLinearAdd", DecomposeQLinearAdd);

}  // namespace ge
