#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void AtanCase(CaseMaker& m) { m.Add(m.Numbers(m.dtype(), m.Shape(0, 4), -3, 3)); }

bool PlainAtan(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return std::asin(x / std::sqrt(1 + x * x)); },
      [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(atan) = {"Atan", AtanCase, 2e-6, Error::kOfElement, PlainAtan};

}  // namespace ge::test
