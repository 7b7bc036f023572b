#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void TanCase(CaseMaker& m) { m.Add(m.Numbers(m.dtype(), m.Shape(0, 4), -1.25, 1.25)); }

bool PlainTan(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return std::sin(x) / std::cos(x); },
      [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(tan) = {"Tan", TanCase, 2e-6, Error::kOfElement, PlainTan};

}  // namespace ge::test
