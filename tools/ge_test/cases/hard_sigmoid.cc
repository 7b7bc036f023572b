#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void HardSigmoidCase(CaseMaker& m) {
  UnaryCase(m);
  if (m.r.Chance(0.5)) m.Set("alpha", static_cast<float>(m.r.Between(0.1, 1)) * 1.0);
  if (m.r.Chance(0.5)) m.Set("beta", static_cast<float>(m.r.Between(0, 1)) * 1.0);
}

bool PlainHardSigmoid(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const double v = FloatOr(c, "alpha", 0.2f) * ElementAsDouble(x, i) + FloatOr(c, "beta", 0.5);
    SetElement(out, i, v < 0 ? 0 : v > 1 ? 1 : v);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(hard_sigmoid) = {"HardSigmoid", HardSigmoidCase, 1e-6, Error::kOfElement,
                              PlainHardSigmoid};

}  // namespace ge::test
