#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void QLinearWhereCase(CaseMaker& m) {
  const Dims to = m.Shape(0, 3);
  const DType t = m.r.Chance(0.5) ? DType::kInt8 : DType::kUint8;
  m.Add(m.Numbers(DType::kBool, to, 0, 1));
  AddByteTensor(m, t, m.Narrowed(to));
  AddByteTensor(m, t, m.Narrowed(to));
  AddByteResult(m, t, 0.02, 0.1);
  m.c.typed = false;
}

bool PlainQLinearWhere(const RandomCase& c, HostTensor* out) {
  const HostTensor& condition = *c.inputs[0].tensor;
  if (out->dims != condition.dims) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const size_t which = ElementAsInt(condition, i) != 0 ? 1 : 4;
    SetByte(c, 7, out, i, Dequantized(c, which, Broadcast(*c.inputs[which].tensor, at.at)));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_q_linear_where) = {"com.microsoft.QLinearWhere", QLinearWhereCase, 0,
                                          Error::kOfElement, PlainQLinearWhere};

}  // namespace ge::test
