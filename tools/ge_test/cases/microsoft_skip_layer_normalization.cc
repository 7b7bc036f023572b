#include "tools/ge_test/random_microsoft.h"

namespace ge::test {
namespace {

void SkipLayerNormalizationCase(CaseMaker& m) {
  const Dims dims = {m.r.Int(1, 3), m.Size(4, 40), m.Size(9, 800)};
  const Dims last = {dims[2]};
  m.Add(Signal(m, dims));
  m.Add(Signal(m, m.r.Pick(std::vector<Dims>{dims, {1, dims[1], dims[2]}, {dims[1], dims[2]}})));
  m.Add(Signal(m, last));
  AddMaybe(m, m.r.Chance(0.7) ? Signal(m, last) : nullptr);
  if (m.r.Chance(0.5)) m.Add(Signal(m, last));
  // Small variances make the figures large, and their differences with them.
  m.Set("epsilon", 0.125);
  m.c.outputs = m.r.Chance(0.4) ? 4 : 1;
}

}  // namespace

GE_RANDOM_OP(microsoft_skip_layer_normalization) = {
    "com.microsoft.SkipLayerNormalization", SkipLayerNormalizationCase, 8e-6, Error::kOfTerms};

}  // namespace ge::test
