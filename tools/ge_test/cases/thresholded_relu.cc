#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void ThresholdedReluCase(CaseMaker& m) {
  UnaryCase(m);
  if (m.r.Chance(0.5)) m.Set("alpha", static_cast<float>(m.r.Between(-1, 2)) * 1.0);
}

bool PlainThresholdedRelu(const RandomCase& c, HostTensor* out) {
  const double alpha = FloatOr(c, "alpha", 1);
  return Elementwise(
      c, out, [alpha](double x, double) { return x <= alpha ? 0 : x; },
      [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(thresholded_relu) = {"ThresholdedRelu", ThresholdedReluCase, 0, Error::kOfElement,
                                  PlainThresholdedRelu};

}  // namespace ge::test
