#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void EluCase(CaseMaker& m) {
  UnaryCase(m);
  if (m.r.Chance(0.5)) m.Set("alpha", static_cast<float>(m.r.Between(0.1, 2)) * 1.0);
}

bool PlainElu(const RandomCase& c, HostTensor* out) {
  const double alpha = FloatOr(c, "alpha", 1);
  return Elementwise(
      c, out, [alpha](double x, double) { return x < 0 ? alpha * std::expm1(x) : x; },
      [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(elu) = {"Elu", EluCase, 2e-6, Error::kOfElement, PlainElu};

}  // namespace ge::test
