#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void QLinearSoftmaxCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 3, false);
  const auto rank = static_cast<int64_t>(dims.size());
  ByteMapCase(m, dims, 0.003, 0.005);
  m.Set("opset", int64_t{m.r.Chance(0.5) ? 13 : 11});
  if (m.r.Chance(0.7)) m.Set("axis", m.Axis(m.r.Int(0, rank - 1), rank));
}

// `below` gets how far the argument of exp is below 0.
double SoftmaxAt(const RandomCase& c, int64_t i, double* below) {
  const HostTensor& x = *c.inputs[0].tensor;
  const auto rank = static_cast<int64_t>(x.dims.size());
  int64_t axis = IntOr(c, "axis", -1), step = 1, row = 1;
  axis += axis < 0 ? rank : 0;
  const bool along = IntOr(c, "opset", 0) >= 13;
  for (int64_t d = axis; d < rank; ++d) {
    (d == axis || !along ? row : step) *= x.dims[static_cast<size_t>(d)];
  }
  const int64_t first = i / (row * step) * row * step + i % step;
  double most = -1e9, sum = 0;
  for (int64_t k = 0; k < row; ++k) most = std::max(most, Dequantized(c, 0, first + k * step));
  for (int64_t k = 0; k < row; ++k) sum += std::exp(Dequantized(c, 0, first + k * step) - most);
  *below = most - Dequantized(c, 0, i);
  return std::exp(-*below) / sum;
}

bool PlainQLinearSoftmax(const RandomCase& c, HostTensor* out) {
  if (c.inputs[0].tensor->dims != out->dims) return false;
  double below = 0;
  for (int64_t i = 0, n = out->count(); i < n; ++i) SetByte(c, 3, out, i, SoftmaxAt(c, i, &below));
  return true;
}

// What native's Softmax in f32 may be off by: exp makes the rounding of its argument one of the
// result, times the argument; ten more roundings are those of exp, the sum and the division.
BeforeCode BeforeQLinearSoftmax(const RandomCase& c, const Dims& at) {
  double below = 0;
  const double v = SoftmaxAt(c, Flat(c.inputs[0].tensor->dims, at), &below) /
                   ElementAsDouble(*c.inputs[3].tensor, 0);
  return {v + ElementOr(Maybe(c, 4), 0, 0), (10 + below) * 0x1p-24 * v};
}

}  // namespace

GE_RANDOM_OP(microsoft_q_linear_softmax) = {"com.microsoft.QLinearSoftmax",
                                            QLinearSoftmaxCase,
                                            0,
                                            Error::kOfElement,
                                            PlainQLinearSoftmax,
                                            nullptr,
                                            0,
                                            BeforeQLinearSoftmax};

}  // namespace ge::test
