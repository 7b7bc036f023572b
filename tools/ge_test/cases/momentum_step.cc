#include "tools/ge_test/random/steps.h"

namespace ge::test {
namespace {

void MomentumStepCase(CaseMaker& m) {
  StepTensors(m, 1, 0);
  AddRate(m);
  AddWhen(m);
  m.Set("momentum", m.r.Int(0, 15) / 16.0);
  SetDecay(m);
  if (m.r.Chance(0.5)) m.Set("nesterov", m.r.Int(0, 1));
  m.c.outputs = 2;
}

bool PlainMomentumStep(const RandomCase& c, size_t output, HostTensor* out) {
  const double rate = ElementAsDouble(*c.inputs[3].tensor, 0);
  const double momentum = FloatOr(c, "momentum", 0), decay = FloatOr(c, "weight_decay", 0);
  const bool ahead = IntOr(c, "nesterov", 0) != 0;
  return EachStep(c, 1, output, out, [&](const std::vector<double>& at) {
    const double g = at[2] + decay * at[0], v = momentum * at[1] + g;
    return std::vector<double>{at[0] - rate * (ahead ? g + momentum * v : v), v};
  });
}

bool PlainMovedWeight(const RandomCase& c, HostTensor* out) { return PlainMomentumStep(c, 0, out); }

}  // namespace

GE_RANDOM_OP(momentum_step) = {"ge.MomentumStep", MomentumStepCase, 2e-6,
                               Error::kOfTerms,   PlainMovedWeight, PlainMomentumStep};

}  // namespace ge::test
