#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void SeluCase(CaseMaker& m) {
  UnaryCase(m);
  if (m.r.Chance(0.5)) m.Set("alpha", static_cast<float>(m.r.Between(0.5, 2)) * 1.0);
  if (m.r.Chance(0.5)) m.Set("gamma", static_cast<float>(m.r.Between(0.5, 2)) * 1.0);
}

bool PlainSelu(const RandomCase& c, HostTensor* out) {
  const double alpha = FloatOr(c, "alpha", 1.67326319217681884765625);
  const double gamma = FloatOr(c, "gamma", 1.05070102214813232421875);
  return Elementwise(
      c, out,
      [alpha, gamma](double x, double) {
        return x > 0 ? gamma * x : gamma * alpha * std::expm1(x);
      },
      [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(selu) = {"Selu", SeluCase, 2e-6, Error::kOfElement, PlainSelu};

}  // namespace ge::test
