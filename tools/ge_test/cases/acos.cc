#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void AcosCase(CaseMaker& m) { m.Add(m.Numbers(m.dtype(), m.Shape(0, 4), -1, 1)); }

bool PlainAcos(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return std::atan2(std::sqrt((1 - x) * (1 + x)), x); },
      [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(acos) = {"Acos", AcosCase, 2e-6, Error::kOfElement, PlainAcos};

}  // namespace ge::test
