#include "tools/ge_test/random/steps.h"

namespace ge::test {
namespace {

void LarsStepCase(CaseMaker& m) {
  StepTensors(m, 1, 0);
  AddRate(m);
  AddWhen(m);
  SetDecay(m);
  m.Set("momentum", m.r.Int(0, 15) / 16.0);
  m.Set("trust", m.r.Int(0, 16) / 16.0);
  m.Set("epsilon", m.r.Pick(std::vector<double>{1e-8, 0.125}));
  if (m.r.Chance(0.5)) m.Set("nesterov", m.r.Int(0, 1));
  m.c.outputs = 2;
}

bool PlainLarsStep(const RandomCase& c, size_t output, HostTensor* out) {
  const double rate = ElementAsDouble(*c.inputs[3].tensor, 0), trust = FloatOr(c, "trust", 0);
  const double momentum = FloatOr(c, "momentum", 0), decay = FloatOr(c, "weight_decay", 0);
  const auto norm = [&](size_t input) {
    const HostTensor& t = *c.inputs[input].tensor;
    return PlainNorm(t.count(), [&](int64_t i) { return ElementAsDouble(t, i); });
  };
  const double length = norm(0);
  const double against = norm(2) + decay * length + FloatOr(c, "epsilon", 0);
  const double ratio = PlainRatio(length * trust, against);
  const bool ahead = IntOr(c, "nesterov", 0) != 0;
  return EachStep(c, 1, output, out, [&](const std::vector<double>& at) {
    const double g = ratio * (at[2] + decay * at[0]), v = momentum * at[1] + g;
    return std::vector<double>{at[0] - rate * (ahead ? g + momentum * v : v), v};
  });
}

bool PlainLarsWeight(const RandomCase& c, HostTensor* out) { return PlainLarsStep(c, 0, out); }

}  // namespace

GE_RANDOM_OP(lars_step) = {"ge.LarsStep",   LarsStepCase,    2e-6,
                           Error::kOfTerms, PlainLarsWeight, PlainLarsStep};

}  // namespace ge::test
