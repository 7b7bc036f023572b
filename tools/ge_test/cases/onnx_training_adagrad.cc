#include "tools/ge_test/random/optimizers.h"

namespace ge::test {
namespace {

void AdagradCase(CaseMaker& m) {
  OptimizerCase(m, 1);
  if (m.r.Chance(0.5)) m.Set("decay_factor", m.r.Int(0, 4) / 8.0);
  m.Set("epsilon", 0.125);
}

bool PlainAdagrad(const RandomCase& c, HostTensor* out) {
  const double rate = RateOf(c) / (1 + StepsOf(c) * FloatOr(c, "decay_factor", 0));
  return StepOfFirst(c, 1, out, [&](double x, double g, double h, double) {
    return x - rate * g / (std::sqrt(h + g * g) + 0.125);
  });
}

}  // namespace

GE_RANDOM_OP(onnx_training_adagrad) = {"ai.onnx.preview.training.Adagrad", AdagradCase, 4e-6,
                                       Error::kOfInputs, PlainAdagrad};

}  // namespace ge::test
