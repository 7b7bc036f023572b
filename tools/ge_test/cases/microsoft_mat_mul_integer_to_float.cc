#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void MatMulIntegerToFloatCase(CaseMaker& m) {
  const ProductSize large = m.large ? LargeProduct(m) : ProductSize{};
  const int64_t inner = m.large ? large.depth : m.r.Int(1, 9),
                columns = m.large ? large.columns : m.r.Int(1, 6);
  const DType t = m.r.Chance(0.5) ? DType::kInt8 : DType::kUint8;
  const Dims lines = m.r.Chance(0.4) ? Dims{columns} : Dims{};
  m.Add(Codes(
      m, m.dtype(),
      Cat(m.large ? Dims() : m.Shape(0, 1, false), {m.large ? large.rows : m.r.Int(1, 5), inner})));
  m.Add(Codes(m, t, {inner, columns}));
  m.Add(m.Numbers(DType::kFloat, {}, 0.01, 0.1));
  m.Add(m.Numbers(DType::kFloat, lines, 0.01, 0.1));
  AddMaybe(m, m.r.Chance(0.6) ? Codes(m, m.dtype(), {}) : nullptr);
  AddMaybe(m, m.r.Chance(0.6) ? Codes(m, t, lines) : nullptr);
  if (m.r.Chance(0.5)) m.Add(m.Numbers(DType::kFloat, {columns}, -1, 1));
  m.c.typed = false;
}

bool PlainMatMulIntegerToFloat(const RandomCase& c, HostTensor* out) {
  const HostTensor &a = *Maybe(c, 0), &b = *Maybe(c, 1);
  const int64_t inner = b.dims[0], columns = b.dims[1];
  Dims wanted = a.dims;
  wanted.back() = columns;
  if (out->dims != wanted) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const int64_t row = i / columns, col = i % columns;
    double sum = 0;
    for (int64_t k = 0; k < inner; ++k) {
      sum += (ElementAsDouble(a, row * inner + k) - ElementOr(Maybe(c, 4), 0, 0)) *
             (ElementAsDouble(b, k * columns + col) - ElementOr(Maybe(c, 5), col, 0));
    }
    const double scale = ElementAsDouble(*Maybe(c, 2), 0) * ElementOr(Maybe(c, 3), col, 1);
    SetElement(out, i, sum * scale + ElementOr(Maybe(c, 6), col, 0));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_mat_mul_integer_to_float) = {"com.microsoft.MatMulIntegerToFloat",
                                                    MatMulIntegerToFloatCase, 4e-6,
                                                    Error::kOfElement, PlainMatMulIntegerToFloat};

}  // namespace ge::test
