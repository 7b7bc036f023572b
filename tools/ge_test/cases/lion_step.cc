#include "tools/ge_test/random/steps.h"

namespace ge::test {
namespace {

// Sixteenths: where the way is zero it is so for everybody.
void LionStepCase(CaseMaker& m) {
  const Dims dims = m.Shape(0, 3);
  for (int i = 0; i < 3; ++i) {
    std::vector<double> values;
    for (int64_t k = 0; k < CountOf(dims); ++k) values.push_back(m.r.Int(-32, 32) / 16.0);
    m.Add(m.Floats(m.dtype(), dims, values));
  }
  AddRate(m);
  AddWhen(m);
  SetDecay(m);
  m.Set("beta1", m.r.Int(0, 15) / 16.0);
  m.Set("beta2", m.r.Int(0, 15) / 16.0);
  m.c.outputs = 2;
}

bool PlainLionStep(const RandomCase& c, size_t output, HostTensor* out) {
  const double rate = ElementAsDouble(*c.inputs[3].tensor, 0),
               decay = FloatOr(c, "weight_decay", 0);
  const double beta1 = FloatOr(c, "beta1", 0), beta2 = FloatOr(c, "beta2", 0);
  return EachStep(c, 1, output, out, [&](const std::vector<double>& at) {
    const double way = beta1 * at[1] + (1 - beta1) * at[2];
    const double sign = way > 0 ? 1 : way < 0 ? -1 : 0;
    return std::vector<double>{at[0] - rate * decay * at[0] - rate * sign,
                               beta2 * at[1] + (1 - beta2) * at[2]};
  });
}

bool PlainLionWeight(const RandomCase& c, HostTensor* out) { return PlainLionStep(c, 0, out); }

}  // namespace

GE_RANDOM_OP(lion_step) = {"ge.LionStep",   LionStepCase,    2e-6,
                           Error::kOfTerms, PlainLionWeight, PlainLionStep};

}  // namespace ge::test
