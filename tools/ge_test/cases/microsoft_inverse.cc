#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

// The diagonal outweighs its row, so that no matrix is near a singular one.
void InverseCase(CaseMaker& m) {
  Dims dims = m.Shape(0, 2);
  const int64_t n = m.r.Chance(0.05) ? 0 : m.r.Int(1, 4);
  dims.insert(dims.end(), 2, n);
  auto x = m.Numbers(m.dtype(), dims, -1, 1);
  for (int64_t i = 0, count = x->count(); i < count; ++i) {
    if (i / n % n == i % n) SetElement(x.get(), i, 5 + m.r.Int(0, 2));
  }
  m.Add(x);
}

// A matrix less a row and a column.
double MinorOf(const std::vector<double>& a, int64_t n, int64_t row, int64_t column);

double DeterminantByMinors(const std::vector<double>& a, int64_t n) {
  if (n == 0) return 1;
  double sum = 0;
  for (int64_t j = 0; j < n; ++j) {
    sum += (j % 2 == 0 ? 1 : -1) * a[static_cast<size_t>(j)] * MinorOf(a, n, 0, j);
  }
  return sum;
}

double MinorOf(const std::vector<double>& a, int64_t n, int64_t row, int64_t column) {
  std::vector<double> less;
  for (int64_t i = 0; i < n * n; ++i) {
    if (i / n != row && i % n != column) less.push_back(a[static_cast<size_t>(i)]);
  }
  return DeterminantByMinors(less, n - 1);
}

// The adjugate over the determinant.
bool PlainInverse(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims) return false;
  const int64_t n = x.dims.back();
  for (int64_t at = 0; at < x.count(); at += n * n) {
    std::vector<double> a;
    for (int64_t i = 0; i < n * n; ++i) a.push_back(ElementAsDouble(x, at + i));
    const double det = DeterminantByMinors(a, n);
    for (int64_t i = 0; i < n * n; ++i) {
      const int64_t row = i / n, col = i % n;
      const double sign = (row + col) % 2 == 0 ? 1 : -1;
      SetElement(out, at + i, sign * MinorOf(a, n, col, row) / det);
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_inverse) = {"com.microsoft.Inverse", InverseCase, 4e-6, Error::kOfTerms,
                                   PlainInverse};

}  // namespace ge::test
