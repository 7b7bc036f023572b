#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

// The dtype of input 0, a scale, is f32.
void QLinearConcatCase(CaseMaker& m) {
  static const std::vector<DType> kByte = {DType::kInt8, DType::kUint8};
  Dims dims = m.Shape(1, 3, false);
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t axis = m.r.Int(0, rank - 1), count = m.r.Int(1, 3);
  AddByteResult(m, m.r.Pick(kByte), 0.02, 0.1);
  for (int64_t i = 0; i < count; ++i) {
    dims[static_cast<size_t>(axis)] = m.r.Int(1, 4);
    AddByteTensor(m, m.r.Pick(kByte), dims);
  }
  m.Set("axis", m.Axis(axis, rank));
  m.c.typed = false;
}

bool PlainQLinearConcat(const RandomCase& c, HostTensor* out) {
  Dims wanted = c.inputs[2].tensor->dims;
  int64_t axis = IntOr(c, "axis", 0);
  axis += axis < 0 ? static_cast<int64_t>(wanted.size()) : 0;
  const auto along = static_cast<size_t>(axis);
  for (size_t i = 5; i < c.inputs.size(); i += 3) wanted[along] += c.inputs[i].tensor->dims[along];
  if (out->dims != wanted) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    Dims from = at.at;
    size_t which = 2;
    while (from[along] >= c.inputs[which].tensor->dims[along]) {
      from[along] -= c.inputs[which].tensor->dims[along];
      which += 3;
    }
    SetByte(c, 0, out, i, Dequantized(c, which, Flat(c.inputs[which].tensor->dims, from)));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_q_linear_concat) = {"com.microsoft.QLinearConcat", QLinearConcatCase, 0,
                                           Error::kOfElement, PlainQLinearConcat};

}  // namespace ge::test
