#include "ge/ops/elementwise.h"

namespace ge {
namespace {

Status InferMean(InferContext& c) { return InferBroadcast(c); }

OpDef MeanRecord() {
  OpDef op{"", "Mean", 13, {{"data_0", kFloats, "T", Arity::kVariadic}}, {}, {}, InferMean};
  op.outputs = {{"mean", kFloats, "T"}};
  op.work = PerOutputAndInput;
  return op;
}

}  // namespace

// The mean of any number of tensors, with broadcasting.
GE_OP(mean) = MeanRecord();

}  // namespace ge
