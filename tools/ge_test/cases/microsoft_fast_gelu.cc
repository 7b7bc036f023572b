#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void FastGeluCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 3);
  m.Add(m.Numbers(m.dtype(), dims, -3, 3));
  if (m.r.Chance(0.6)) m.Add(Signal(m, {dims.back()}));
}

bool PlainFastGelu(const RandomCase& c, HostTensor* out) {
  return PlainBiased(c, out, [](double v) { return v * TanhShare(v); });
}

}  // namespace

GE_RANDOM_OP(microsoft_fast_gelu) = {"com.microsoft.FastGelu", FastGeluCase, 2e-6, Error::kOfTerms,
                                     PlainFastGelu};

}  // namespace ge::test
