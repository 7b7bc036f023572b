#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void AcoshCase(CaseMaker& m) { m.Add(m.Numbers(m.dtype(), m.Shape(0, 4), 1, 4)); }

bool PlainAcosh(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return std::log(x + std::sqrt((x - 1) * (x + 1))); },
      [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(acosh) = {"Acosh", AcoshCase, 2e-6, Error::kOfElement, PlainAcosh};

}  // namespace ge::test
