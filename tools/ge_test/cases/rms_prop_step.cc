#include "tools/ge_test/random/steps.h"

namespace ge::test {
namespace {

void RmsPropStepCase(CaseMaker& m) {
  StepTensors(m, 1, 1);
  AddRate(m);
  AddWhen(m);
  SetDecay(m);
  m.Set("alpha", m.r.Int(0, 15) / 16.0);
  m.Set("epsilon", m.r.Pick(std::vector<double>{1e-8, 0.125}));
  m.c.outputs = 2;
}

bool PlainRmsPropStep(const RandomCase& c, size_t output, HostTensor* out) {
  const double rate = ElementAsDouble(*c.inputs[3].tensor, 0), alpha = FloatOr(c, "alpha", 0);
  const double eps = FloatOr(c, "epsilon", 0), decay = FloatOr(c, "weight_decay", 0);
  return EachStep(c, 1, output, out, [&](const std::vector<double>& at) {
    const double g = at[2] + decay * at[0], square = alpha * at[1] + (1 - alpha) * g * g;
    return std::vector<double>{at[0] - rate * g / (std::sqrt(square) + eps), square};
  });
}

bool PlainRmsPropWeight(const RandomCase& c, HostTensor* out) {
  return PlainRmsPropStep(c, 0, out);
}

}  // namespace

GE_RANDOM_OP(rms_prop_step) = {"ge.RmsPropStep", RmsPropStepCase,    2e-6,
                               Error::kOfTerms,  PlainRmsPropWeight, PlainRmsPropStep};

}  // namespace ge::test
