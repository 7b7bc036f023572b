#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void CoshCase(CaseMaker& m) { m.Add(m.Numbers(m.dtype(), m.Shape(0, 4), -3, 3)); }

bool PlainCosh(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return (std::exp(x) + std::exp(-x)) / 2; },
      [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(cosh) = {"Cosh", CoshCase, 2e-6, Error::kOfElement, PlainCosh};

}  // namespace ge::test
