#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void QLinearLeakyReluCase(CaseMaker& m) {
  ByteMapCase(m, m.Shape(0, 3), 0.02, 0.1);
  // A power of two, so that the product is the same however it is rounded.
  if (m.r.Chance(0.7)) m.Set("alpha", 0.25);
}

bool PlainQLinearLeakyRelu(const RandomCase& c, HostTensor* out) {
  const double alpha = FloatOr(c, "alpha", 0.01f);
  return PlainByteMap(c, out, [=](double v) { return v < 0 ? v * alpha : v; });
}

}  // namespace

GE_RANDOM_OP(microsoft_q_linear_leaky_relu) = {"com.microsoft.QLinearLeakyRelu",
                                               QLinearLeakyReluCase, 0, Error::kOfElement,
                                               PlainQLinearLeakyRelu};

}  // namespace ge::test
