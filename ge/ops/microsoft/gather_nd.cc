#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

Status InferGatherNDMs(InferContext& c) { return FindOp("", "GatherND")->infer(c); }

// ONNX's own operator takes only 64-bit indices.
std::vector<ValueId> DecomposeGatherNDMs(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  const ValueId indices = p.Cast(node.inputs[1], DType::kInt64);
  return {p.Add("GatherND", {node.inputs[0], indices}, p.TypeOf(node.outputs[0]))};
}

OpDef GatherNDMsRecord() {
  OpDef op = MicrosoftRecord("GatherND", InferGatherNDMs, DecomposeGatherNDMs);
  constexpr DTypeSet kTypes = kNumeric | Bit(DType::kBool) | Bit(DType::kString);
  op.inputs = {{"data", kTypes, "T"}, {"indices", kIndex, "Tind"}};
  op.outputs = {{"output", kTypes, "T"}};
  return op;
}

}  // namespace

// Slices of data at index tuples, which stand in the last axis of indices.
GE_OP(microsoft_gather_nd) = GatherNDMsRecord();

}  // namespace ge
