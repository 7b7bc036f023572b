#include "tools/ge_test/random/elementwise.h"
#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void QuickGeluCase(CaseMaker& m) {
  UnaryCase(m);
  if (m.r.Chance(0.6)) m.Set("alpha", m.r.Between(0.5, 2));
}

bool PlainQuickGelu(const RandomCase& c, HostTensor* out) {
  const double alpha = FloatOr(c, "alpha", 1.702f);
  return PlainBiased(c, out, [=](double v) { return v / (1 + std::exp(-alpha * v)); });
}

}  // namespace

GE_RANDOM_OP(microsoft_quick_gelu) = {"com.microsoft.QuickGelu", QuickGeluCase, 2e-6,
                                      Error::kOfTerms, PlainQuickGelu};

}  // namespace ge::test
