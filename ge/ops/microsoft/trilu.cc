#include "ge/ops/microsoft/checks.h"
#include "ge/ops/microsoft/steps.h"

namespace ge {
namespace {

Status InferTriluMs(InferContext& c) { return FindOp("", "Trilu")->infer(c); }

// ONNX's own operator, which came later.
std::vector<ValueId> DecomposeTriluMs(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  return {
      p.Add("Trilu", node.inputs, p.TypeOf(node.inputs[0]), {{"upper", AttrInt(node, "upper")}})};
}

OpDef TriluMsRecord() {
  OpDef op = MicrosoftRecord("Trilu", InferTriluMs, DecomposeTriluMs);
  constexpr DTypeSet kTypes = kNumeric | Bit(DType::kBool);
  op.inputs = {{"X", kTypes, "T"}, {"k", Bit(DType::kInt64), "", Arity::kOptional}};
  op.outputs = {{"Y", kTypes, "T"}};
  op.attrs = {{"upper", AttrKind::kInt, 1}};
  return op;
}

}  // namespace

// The upper (or lower) triangle of matrices from the k-th diagonal on, zeros elsewhere.
GE_OP(microsoft_trilu) = TriluMsRecord();

}  // namespace ge
