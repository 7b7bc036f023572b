#include "tools/ge_test/random/loss.h"

namespace ge::test {
namespace {

void SoftmaxCrossEntropyLossCase(CaseMaker& m) {
  LossCase(m);
  m.c.outputs = m.r.Chance(0.4) ? 2 : 1;
}

bool PlainSoftmaxCrossEntropyLoss(const RandomCase& c, HostTensor* out) {
  return PlainLoss(c, out, true);
}

}  // namespace

GE_RANDOM_OP(softmax_cross_entropy_loss) = {"SoftmaxCrossEntropyLoss", SoftmaxCrossEntropyLossCase,
                                            8e-6, Error::kOfInputs, PlainSoftmaxCrossEntropyLoss};

}  // namespace ge::test
