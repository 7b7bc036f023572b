#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void DetCase(CaseMaker& m) {
  Dims dims = m.Shape(0, 2);
  const int64_t n = m.r.Chance(0.05) ? 0 : m.r.Int(1, 4);
  dims.insert(dims.end(), 2, n);
  m.Add(m.Numbers(m.dtype(), dims, -2, 2));
}

// Along the first row, over the rows and columns that are left.
double PlainDetOf(const HostTensor& x, int64_t base, int64_t row, uint32_t columns) {
  const int64_t n = x.dims.back();
  if (row == n) return 1;
  double sum = 0, sign = 1;
  for (int64_t k = 0; k < n; ++k) {
    if ((columns >> k & 1) != 0) continue;
    sum += sign * ElementAsDouble(x, base + row * n + k) *
           PlainDetOf(x, base, row + 1, columns | uint32_t{1} << k);
    sign = -sign;
  }
  return sum;
}

bool PlainDet(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (Dims(x.dims.begin(), x.dims.end() - 2) != out->dims) return false;
  const int64_t n = x.dims.back();
  for (int64_t i = 0; i < out->count(); ++i) SetElement(out, i, PlainDetOf(x, i * n * n, 0, 0));
  return true;
}

}  // namespace

GE_RANDOM_OP(det) = {"Det", DetCase, 8e-6, Error::kOfTerms, PlainDet};

}  // namespace ge::test
