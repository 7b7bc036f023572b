#include "tools/ge_test/random/elementwise.h"
#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

bool PlainGeluMs(const RandomCase& c, HostTensor* out) {
  return PlainBiased(c, out, [](double v) { return v * NormalShare(v); });
}

}  // namespace

GE_RANDOM_OP(microsoft_gelu) = {"com.microsoft.Gelu", UnaryCase, 2e-6, Error::kOfTerms,
                                PlainGeluMs};

}  // namespace ge::test
