#include "ge/ops/elementwise.h"

namespace ge {
namespace {

std::optional<Dim> FoldMin(DimTable& d, Dim a, Dim b) { return d.Min(a, b); }

Status InferMin(InferContext& c) { return InferFolded(c, FoldMin); }

OpDef MinRecord() {
  OpDef op{"", "Min", 13, {{"data_0", kNumeric, "T", Arity::kVariadic}}, {}, {}, InferMin};
  op.outputs = {{"min", kNumeric, "T"}};
  op.work = PerOutputAndInput;
  return op;
}

}  // namespace

// The smallest of any number of tensors, with broadcasting.
GE_OP(min) = MinRecord();

}  // namespace ge
