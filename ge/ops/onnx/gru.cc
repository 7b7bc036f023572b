#include "ge/ops/families/recurrent.h"

namespace ge {
namespace {

Status InferGru(InferContext& c) { return InferRecurrent(c, 3, 2); }

OpDef GruRecord() {
  OpDef op = RecurrentRecord("GRU", InferGru);
  op.attrs.push_back({"linear_before_reset", AttrKind::kInt, 0});
  return op;
}

}  // namespace

// One or two layers of gated recurrent units; gates in the order update, reset, hidden.
GE_OP(gru) = GruRecord();

}  // namespace ge
