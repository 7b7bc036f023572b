#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void QLinearSigmoidCase(CaseMaker& m) { ByteMapCase(m, m.Shape(0, 3), 0.004, 0.01); }

bool PlainQLinearSigmoid(const RandomCase& c, HostTensor* out) {
  return PlainByteMap(c, out, [](double v) { return 1 / (1 + std::exp(-v)); });
}

}  // namespace

GE_RANDOM_OP(microsoft_q_linear_sigmoid) = {"com.microsoft.QLinearSigmoid", QLinearSigmoidCase, 0,
                                            Error::kOfElement, PlainQLinearSigmoid};

}  // namespace ge::test
