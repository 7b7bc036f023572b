#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void QLinearMulCase(CaseMaker& m) { BytePairCase(m, 0.2, 0.9); }

bool PlainQLinearMul(const RandomCase& c, HostTensor* out) {
  return PlainBytePair(c, out, [](double a, double b) { return a * b; });
}

}  // namespace

GE_RANDOM_OP(microsoft_q_linear_mul) = {"com.microsoft.QLinearMul", QLinearMulCase, 0,
                                        Error::kOfElement, PlainQLinearMul};

}  // namespace ge::test
