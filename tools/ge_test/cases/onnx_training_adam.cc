#include "tools/ge_test/random/optimizers.h"

namespace ge::test {
namespace {

void AdamCase(CaseMaker& m) {
  OptimizerCase(m, 2);
  m.Set("alpha", m.r.Int(1, 7) / 8.0);
  m.Set("beta", m.r.Int(1, 7) / 8.0);
  m.Set("epsilon", 0.125);
  if (m.r.Chance(0.3)) m.Set("norm_coefficient_post", m.r.Int(0, 4) / 8.0);
}

bool PlainAdam(const RandomCase& c, HostTensor* out) {
  const double a = FloatOr(c, "alpha", 0), b = FloatOr(c, "beta", 0), steps = StepsOf(c);
  const double unbiased = std::sqrt(1 - std::pow(b, steps)) / (1 - std::pow(a, steps));
  const double rate = RateOf(c) * (steps > 0 ? unbiased : 1);
  const double after = 1 - FloatOr(c, "norm_coefficient_post", 0);
  return StepOfFirst(c, 2, out, [&](double x, double g, double v, double h) {
    const double mean = a * v + (1 - a) * g, squares = b * h + (1 - b) * g * g;
    return after * (x - rate * mean / (std::sqrt(squares) + 0.125));
  });
}

}  // namespace

GE_RANDOM_OP(onnx_training_adam) = {"ai.onnx.preview.training.Adam", AdamCase, 1e-5,
                                    Error::kOfInputs, PlainAdam};

}  // namespace ge::test
