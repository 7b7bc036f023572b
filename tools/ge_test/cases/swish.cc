#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void SwishCase(CaseMaker& m) {
  UnaryCase(m);
  if (m.r.Chance(0.5)) m.Set("alpha", static_cast<float>(m.r.Between(0.25, 2)) * 1.0);
}

bool PlainSwish(const RandomCase& c, HostTensor* out) {
  const double alpha = FloatOr(c, "alpha", 1);
  return Elementwise(
      c, out, [alpha](double x, double) { return x * 0.5 * (1 + std::tanh(alpha * x / 2)); },
      [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(swish) = {"Swish", SwishCase, 2e-6, Error::kOfElement, PlainSwish};

}  // namespace ge::test
