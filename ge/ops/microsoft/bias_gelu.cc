#include "ge/ops/microsoft/biased_gelu.h"

namespace ge {
namespace {

Status InferBiasGelu(InferContext& c) { return InferBiasedGelu(c, "B"); }

std::vector<ValueId> DecomposeBiasGelu(Transaction& t, FunctionId fn, const Node& node) {
  return DecomposeBiasedGelu(t, fn, node, "none");
}

OpDef BiasGeluRecord() {
  OpDef op = MicrosoftRecord("BiasGelu", InferBiasGelu, DecomposeBiasGelu);
  op.inputs = {{"A", kFloats, "T"}, {"B", kFloats, "T"}};
  op.outputs = {{"C", kFloats, "T"}};
  return op;
}

}  // namespace

// Gelu of A + B, B a vector over the last axis.
GE_OP(microsoft_bias_gelu) = BiasGeluRecord();

}  // namespace ge
