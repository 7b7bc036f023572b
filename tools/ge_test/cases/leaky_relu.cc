#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void LeakyReluCase(CaseMaker& m) {
  UnaryCase(m);
  if (m.r.Chance(0.5)) m.Set("alpha", static_cast<float>(m.r.Between(-0.5, 1)) * 1.0);
}

bool PlainLeakyRelu(const RandomCase& c, HostTensor* out) {
  const double alpha = FloatOr(c, "alpha", 0.01f);
  return Elementwise(
      c, out, [alpha](double x, double) { return x - (x < 0 ? (1 - alpha) * x : 0); },
      [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(leaky_relu) = {"LeakyRelu", LeakyReluCase, 1e-6, Error::kOfElement, PlainLeakyRelu};

}  // namespace ge::test
