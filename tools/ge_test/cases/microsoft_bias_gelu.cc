#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void BiasGeluCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 3);
  m.Add(m.Numbers(m.dtype(), dims, -3, 3));
  m.Add(Signal(m, {dims.back()}));
}

bool PlainBiasGelu(const RandomCase& c, HostTensor* out) {
  return PlainBiased(c, out, [](double v) { return v * NormalShare(v); });
}

}  // namespace

GE_RANDOM_OP(microsoft_bias_gelu) = {"com.microsoft.BiasGelu", BiasGeluCase, 2e-6, Error::kOfTerms,
                                     PlainBiasGelu};

}  // namespace ge::test
