#include "tools/ge_test/random/steps.h"

namespace ge::test {
namespace {

void LambStepCase(CaseMaker& m) {
  StepTensors(m, 2, 2);
  for (int i = 0; i < 3; ++i) AddRate(m);
  AddWhen(m);
  SetDecay(m);
  m.Set("beta1", m.r.Int(0, 15) / 16.0);
  m.Set("beta2", m.r.Int(0, 15) / 16.0);
  m.Set("epsilon", m.r.Pick(std::vector<double>{1e-6, 0.125}));
  m.c.outputs = 3;
}

bool PlainLambStep(const RandomCase& c, size_t output, HostTensor* out) {
  const auto scalar = [&](size_t i) { return ElementAsDouble(*c.inputs[i].tensor, 0); };
  const double rate = scalar(4), first = scalar(5), second = scalar(6);
  const double beta1 = FloatOr(c, "beta1", 0), beta2 = FloatOr(c, "beta2", 0);
  const double eps = FloatOr(c, "epsilon", 0), decay = FloatOr(c, "weight_decay", 0);
  const auto moved = [&](const std::vector<double>& at) {
    const double mean = beta1 * at[1] + (1 - beta1) * at[3];
    const double square = beta2 * at[2] + (1 - beta2) * at[3] * at[3];
    const double step = mean / first / (std::sqrt(square) / second + eps) + decay * at[0];
    return std::vector<double>{step, mean, square};
  };
  const auto at = [&](int64_t i) {
    std::vector<double> all;
    for (size_t k = 0; k < 4; ++k) all.push_back(ElementAsDouble(*c.inputs[k].tensor, i));
    return all;
  };
  const int64_t n = out->count();
  const double ratio = PlainRatio(PlainNorm(n, [&](int64_t i) { return at(i)[0]; }),
                                  PlainNorm(n, [&](int64_t i) { return moved(at(i))[0]; }));
  return EachStep(c, 2, output, out, [&](const std::vector<double>& here) {
    std::vector<double> made = moved(here);
    made[0] = here[0] - rate * ratio * made[0];
    return made;
  });
}

bool PlainLambWeight(const RandomCase& c, HostTensor* out) { return PlainLambStep(c, 0, out); }

}  // namespace

GE_RANDOM_OP(lamb_step) = {"ge.LambStep",   LambStepCase,    2e-6,
                           Error::kOfTerms, PlainLambWeight, PlainLambStep};

}  // namespace ge::test
