#include "tools/ge_test/random/quantized.h"

namespace ge::test {
namespace {

void MatMulIntegerCase(CaseMaker& m) {
  const auto [a, b] = MakeByteProduct(m);
  const DType right = m.r.Chance(0.5) ? DType::kInt8 : DType::kUint8;
  m.Add(Codes(m, m.dtype(), a));
  m.Add(Codes(m, right, b));
  const bool b_zero = m.r.Chance(0.5);
  if (m.r.Chance(0.6)) {
    m.Add(Codes(m, m.dtype(), LineShape(m, a, true)));
  } else if (b_zero) {
    m.AddAbsent();
  }
  if (b_zero) m.Add(Codes(m, right, LineShape(m, b, false)));
  m.c.typed = false;
}

bool PlainMatMulInteger(const RandomCase& c, HostTensor* out) {
  const HostTensor &a = *c.inputs[0].tensor, &b = *c.inputs[1].tensor;
  if (out->dtype != DType::kInt32) return false;
  ProductPlaces p = PlacesOf(a, b, out->dims);
  if (p.out[p.out.size() - 2] != p.a[p.a.size() - 2] || p.out.back() != p.b.back()) return false;
  Index at(p.out);
  p.at = &at.at;
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const double sum = PlainProductSum(a, b, Maybe(c, 2), Maybe(c, 3), p);
    SetIntElement(out, i, static_cast<int64_t>(sum));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(mat_mul_integer) = {"MatMulInteger", MatMulIntegerCase, 0, Error::kOfElement,
                                 PlainMatMulInteger};

}  // namespace ge::test
