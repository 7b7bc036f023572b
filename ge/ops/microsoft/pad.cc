#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

Status InferPadMs(InferContext& c) {
  const std::string_view mode = AttrString(c.node(), "mode");
  if (mode != "constant" && mode != "reflect" && mode != "edge") {
    return Bad(c.node(), fmt::format("attribute 'mode' is '{:.64}', wanted constant, reflect or "
                                     "edge",
                                     mode));
  }
  return FindOp("", "Pad")->infer(c);
}

// ONNX's own operator, whose pads became an input later.
std::vector<ValueId> DecomposePadMs(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  std::vector<ValueId> inputs = node.inputs;
  // The value may be a vector of one element there, too.
  return {p.Add("Pad", std::move(inputs), p.TypeOf(node.outputs[0]),
                {{"mode", std::string(AttrString(node, "mode"))}})};
}

OpDef PadMsRecord() {
  OpDef op = MicrosoftRecord("Pad", InferPadMs, DecomposePadMs);
  op.inputs = {{"data", kFloats, "T"},
               {"pads", Bit(DType::kInt64)},
               {"value", kFloats, "T", Arity::kOptional}};
  op.outputs = {{"output", kFloats, "T"}};
  op.attrs = {{"mode", AttrKind::kString, "constant"}};
  return op;
}

}  // namespace

// Elements before and after the axes: one value, or the tensor reflected or at its edge.
GE_OP(microsoft_pad) = PadMsRecord();

}  // namespace ge
