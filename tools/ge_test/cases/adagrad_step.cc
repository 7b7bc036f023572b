#include "tools/ge_test/random/steps.h"

namespace ge::test {
namespace {

void AdagradStepCase(CaseMaker& m) {
  StepTensors(m, 1, 1);
  AddRate(m);
  AddWhen(m);
  SetDecay(m);
  m.Set("epsilon", m.r.Pick(std::vector<double>{1e-8, 0.125}));
  m.c.outputs = 2;
}

bool PlainAdagradStep(const RandomCase& c, size_t output, HostTensor* out) {
  const double rate = ElementAsDouble(*c.inputs[3].tensor, 0), eps = FloatOr(c, "epsilon", 0);
  const double decay = FloatOr(c, "weight_decay", 0);
  return EachStep(c, 1, output, out, [&](const std::vector<double>& at) {
    const double g = at[2] + decay * at[0], square = at[1] + g * g;
    return std::vector<double>{at[0] - rate * g / (std::sqrt(square) + eps), square};
  });
}

bool PlainAdagradWeight(const RandomCase& c, HostTensor* out) {
  return PlainAdagradStep(c, 0, out);
}

}  // namespace

GE_RANDOM_OP(adagrad_step) = {"ge.AdagradStep", AdagradStepCase,    2e-6,
                              Error::kOfTerms,  PlainAdagradWeight, PlainAdagradStep};

}  // namespace ge::test
