#include "ge/ops/families/recurrent.h"

namespace ge {
namespace {

Status InferLstm(InferContext& c) { return InferRecurrent(c, 4, 3); }

OpDef LstmRecord() {
  OpDef op = RecurrentRecord("LSTM", InferLstm);
  op.inputs.push_back({"initial_c", kFloats, "T", Arity::kOptional});
  op.inputs.push_back({"P", kFloats, "T", Arity::kOptional});
  op.outputs.push_back({"Y_c", kFloats, "T", Arity::kOptional});
  op.attrs.push_back({"input_forget", AttrKind::kInt, 0});
  return op;
}

}  // namespace

// One or two layers of long short-term memory; gates in the order input, output, forget, cell.
GE_OP(lstm) = LstmRecord();

}  // namespace ge
