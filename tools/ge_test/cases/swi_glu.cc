#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void SwiGluCase(CaseMaker& m) {
  const Dims dims = m.Shape(0, 4);
  m.Add(m.Numbers(m.dtype(), dims, -4, 4));
  m.Add(m.Numbers(m.dtype(), dims, -4, 4));
  if (m.r.Chance(0.5)) m.Set("alpha", static_cast<float>(m.r.Between(0.25, 2)) * 1.0);
}

bool PlainSwiGlu(const RandomCase& c, HostTensor* out) {
  const double alpha = FloatOr(c, "alpha", 1);
  return Elementwise(
      c, out, [alpha](double a, double b) { return a * 0.5 * (1 + std::tanh(alpha * a / 2)) * b; },
      [](int64_t a, int64_t) { return a; });
}

}  // namespace

GE_RANDOM_OP(swi_glu) = {"SwiGLU", SwiGluCase, 4e-6, Error::kOfElement, PlainSwiGlu};

}  // namespace ge::test
