#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void CosCase(CaseMaker& m) { m.Add(m.Numbers(m.dtype(), m.Shape(0, 4), -6, 6)); }

bool PlainCos(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return 1 - 2 * std::pow(std::sin(x / 2), 2); },
      [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(cos) = {"Cos", CosCase, 2e-6, Error::kOfElement, PlainCos};

}  // namespace ge::test
