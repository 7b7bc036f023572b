#include "ge/ops/elementwise.h"

namespace ge {
namespace {

Status InferDropout(InferContext& c) {
  GE_RETURN_IF_ERROR(InferSame(c));
  if (c.output_count() > 1 && c.has_output(1)) {
    Type mask = c.input_type(0);
    mask.dtype = DType::kBool;
    c.SetOutput(1, std::move(mask));
  }
  if (const auto ratio = ConstFloats(c, 1)) {
    if (ratio->size() != 1 || !((*ratio)[0] >= 0 && (*ratio)[0] < 1)) {
      return Bad(c.node(), "input 'ratio' must be a scalar of at least 0 and less than 1");
    }
  }
  return {};
}

OpDef DropoutRecord() {
  const DTypeSet types = kFloats | kFloat8s;
  OpDef op{"", "Dropout", 22, {}, {}, {{"seed", AttrKind::kInt}}, InferDropout};
  op.inputs = {{"data", types, "T"},
               {"ratio", types, "T1", Arity::kOptional},
               {"training_mode", Bit(DType::kBool), "T2", Arity::kOptional}};
  op.outputs = {{"output", types, "T"}, {"mask", Bit(DType::kBool), "T2", Arity::kOptional}};
  op.deterministic = false;  // in training mode
  return op;
}

}  // namespace

// The identity unless training_mode is true; then a scaled random mask.
GE_OP(dropout) = DropoutRecord();

}  // namespace ge
