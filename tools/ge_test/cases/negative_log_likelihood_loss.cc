#include "tools/ge_test/random/loss.h"

namespace ge::test {
namespace {

bool PlainNegativeLogLikelihoodLoss(const RandomCase& c, HostTensor* out) {
  return PlainLoss(c, out, false);
}

}  // namespace

GE_RANDOM_OP(negative_log_likelihood_loss) = {"NegativeLogLikelihoodLoss", LossCase, 8e-6,
                                              Error::kOfInputs, PlainNegativeLogLikelihoodLoss};

}  // namespace ge::test
