#include "tools/ge_test/random_microsoft.h"

namespace ge::test {
namespace {

void QLinearSoftmaxCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 3, false);
  const auto rank = static_cast<int64_t>(dims.size());
  ByteMapCase(m, dims, 0.003, 0.005);
  m.Set("opset", int64_t{m.r.Chance(0.5) ? 13 : 11});
  if (m.r.Chance(0.7)) m.Set("axis", m.Axis(m.r.Int(0, rank - 1), rank));
}

bool PlainQLinearSoftmax(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims) return false;
  const auto rank = static_cast<int64_t>(x.dims.size());
  int64_t axis = IntOr(c, "axis", -1), step = 1, row = 1;
  axis += axis < 0 ? rank : 0;
  const bool along = IntOr(c, "opset", 0) >= 13;
  for (int64_t d = axis; d < rank; ++d) {
    (d == axis || !along ? row : step) *= x.dims[static_cast<size_t>(d)];
  }
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const int64_t first = i / (row * step) * row * step + i % step;
    double most = -1e9, sum = 0;
    for (int64_t k = 0; k < row; ++k) most = std::max(most, Dequantized(c, 0, first + k * step));
    for (int64_t k = 0; k < row; ++k) sum += std::exp(Dequantized(c, 0, first + k * step) - most);
    SetByte(c, 3, out, i, std::exp(Dequantized(c, 0, i) - most) / sum);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_q_linear_softmax) = {"com.microsoft.QLinearSoftmax", QLinearSoftmaxCase, 0,
                                            Error::kOfElement, PlainQLinearSoftmax};

}  // namespace ge::test
