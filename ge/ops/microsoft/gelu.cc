#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

// ONNX's own operator of that name, with the error function.
std::vector<ValueId> DecomposeGeluMs(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  return {p.Add("Gelu", {node.inputs[0]}, p.TypeOf(node.inputs[0]))};
}

OpDef GeluMsRecord() {
  OpDef op = MicrosoftRecord("Gelu", InferSame, DecomposeGeluMs);
  op.inputs = {{"X", kFloats, "T"}};
  op.outputs = {{"Y", kFloats, "T"}};
  return op;
}

}  // namespace

// x times the normal distribution's share below x.
GE_OP(microsoft_gelu) = GeluMsRecord();

}  // namespace ge
