#include "tools/ge_test/random_layers.h"

namespace ge::test {
namespace {

void BatchNormalizationCase(CaseMaker& m) {
  const int64_t channels = m.Size(5, 12);
  const Dims size = m.Shape(0, 3);
  m.Add(Signal(m, Cat({m.r.Int(1, 3), channels}, size)));
  const bool constant = m.r.Chance(0.6);  // as in a trained model
  for (int i = 0; i < 4; ++i) {
    m.Add(i == 3 ? m.Numbers(m.dtype(), {channels}, 0.3, 2) : Signal(m, {channels}));
    if (constant) m.c.inputs.back().constant = true;
  }
  if (m.r.Chance(0.5)) m.Set("epsilon", 0.125);
}

}  // namespace

GE_RANDOM_OP(batch_normalization) = {"BatchNormalization", BatchNormalizationCase, 8e-6,
                                     Error::kOfTerms};

}  // namespace ge::test
