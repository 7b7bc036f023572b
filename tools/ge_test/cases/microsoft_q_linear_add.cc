#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void QLinearAddCase(CaseMaker& m) { BytePairCase(m, 0.05, 0.3); }

bool PlainQLinearAdd(const RandomCase& c, HostTensor* out) {
  return PlainBytePair(c, out, [](double a, double b) { return a + b; });
}

}  // namespace

GE_RANDOM_OP(microsoft_q_linear_add) = {"com.microsoft.QLinearAdd", QLinearAddCase, 0,
                                        Error::kOfElement, PlainQLinearAdd};

}  // namespace ge::test
