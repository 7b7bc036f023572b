#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void AsinCase(CaseMaker& m) { m.Add(m.Numbers(m.dtype(), m.Shape(0, 4), -1, 1)); }

bool PlainAsin(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return std::atan2(x, std::sqrt((1 - x) * (1 + x))); },
      [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(asin) = {"Asin", AsinCase, 2e-6, Error::kOfElement, PlainAsin};

}  // namespace ge::test
