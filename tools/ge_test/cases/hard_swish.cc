#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

// The bends are at -3 and 3. Near -3 the sum x + 3 loses what its terms were rounded to.
void HardSwishCase(CaseMaker& m) { m.Add(m.Numbers(m.dtype(), m.Shape(0, 4), -5, 5)); }

bool PlainHardSwish(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return x <= -3  ? 0
                                            : x >= 3 ? x
                                                     : x * (x + 3) / 6; },
      [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(hard_swish) = {"HardSwish", HardSwishCase, 1e-6, Error::kOfTerms, PlainHardSwish};

}  // namespace ge::test
