#include "ge/ops/microsoft/biased_gelu.h"

namespace ge {
namespace {

Status InferFastGelu(InferContext& c) { return InferBiasedGelu(c, "bias"); }

std::vector<ValueId> DecomposeFastGelu(Transaction& t, FunctionId fn, const Node& node) {
  return DecomposeBiasedGelu(t, fn, node, "tanh");
}

OpDef FastGeluRecord() {
  OpDef op = MicrosoftRecord("FastGelu", InferFastGelu, DecomposeFastGelu);
  op.inputs = {{"X", kFloats, "T"}, {"bias", kFloats, "T", Arity::kOptional}};
  op.outputs = {{"Y", kFloats, "T"}};
  return op;
}

}  // namespace

// Gelu's approximation by tanh, of X + bias.
GE_OP(microsoft_fast_gelu) = FastGeluRecord();

}  // namespace ge
