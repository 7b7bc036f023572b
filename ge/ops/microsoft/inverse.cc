#include "ge/ops/microsoft/checks.h"

namespace ge {
namespace {

Status InferInverse(InferContext& c) {
  const Type& x = c.input_type(0);
  GE_RETURN_IF_ERROR(WantRank(x, 2, "Inverse: input 'X'"));
  if (x.ranked) {
    const size_t r = x.rank();
    GE_RETURN_IF_ERROR(
        SameDim(c, x.dims[r - 2], x.dims[r - 1], "rows and columns of input 'X'").status());
  }
  return InferSame(c);
}

// Elimination of a matrix and the unit matrix beside it: 2 n^3 multiply-adds each.
Work EffortInverse(const Node&, std::span<const Type> in, std::span<const Type> out) {
  const bool known = !in.empty() && in[0].is_static() && in[0].rank() >= 2;
  const double n = known ? static_cast<double>(in[0].dims.back().value) : 0;
  return {known ? ElementsOf(in[0]) * n * 4 : 0, BytesOf(in, out)};
}

OpDef InverseRecord() {
  OpDef op = MicrosoftRecord("Inverse", InferInverse, nullptr);
  op.inputs = {{"X", kFloats, "T"}};
  op.outputs = {{"Y", kFloats, "T"}};
  op.work = EffortInverse;
  return op;
}

}  // namespace

// The inverses of square matrices.
GE_OP(microsoft_inverse) = InverseRecord();

}  // namespace ge
