#include "tools/ge_test/random/steps.h"

namespace ge::test {
namespace {

void AdamStepCase(CaseMaker& m) {
  StepTensors(m, 2, 2);
  for (int i = 0; i < 3; ++i) AddRate(m);
  AddWhen(m);
  m.Set("beta1", m.r.Int(0, 15) / 16.0);
  m.Set("beta2", m.r.Int(0, 15) / 16.0);
  m.Set("epsilon", m.r.Pick(std::vector<double>{1e-8, 0.125}));
  SetDecay(m);
  if (m.r.Chance(0.5)) m.Set("decoupled", m.r.Int(0, 1));
  m.c.outputs = 3;
}

bool PlainAdamStep(const RandomCase& c, size_t output, HostTensor* out) {
  const auto scalar = [&](size_t i) { return ElementAsDouble(*c.inputs[i].tensor, 0); };
  const double rate = scalar(4), first = scalar(5), second = scalar(6);
  const double beta1 = FloatOr(c, "beta1", 0), beta2 = FloatOr(c, "beta2", 0);
  const double eps = FloatOr(c, "epsilon", 0), decay = FloatOr(c, "weight_decay", 0);
  const bool apart = IntOr(c, "decoupled", 0) != 0;
  return EachStep(c, 2, output, out, [&](const std::vector<double>& at) {
    const double weight = at[0], g = apart ? at[3] : at[3] + decay * weight;
    const double mean = beta1 * at[1] + (1 - beta1) * g;
    const double square = beta2 * at[2] + (1 - beta2) * g * g;
    const double moved = apart ? weight - rate * decay * weight : weight;
    const double step = mean / first / (std::sqrt(square) / second + eps);
    return std::vector<double>{moved - rate * step, mean, square};
  });
}

bool PlainAdamWeight(const RandomCase& c, HostTensor* out) { return PlainAdamStep(c, 0, out); }

}  // namespace

GE_RANDOM_OP(adam_step) = {"ge.AdamStep",   AdamStepCase,    2e-6,
                           Error::kOfTerms, PlainAdamWeight, PlainAdamStep};

}  // namespace ge::test
