#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void InstanceNormalizationCase(CaseMaker& m) {
  const int64_t channels = m.Size(5, 12);
  m.Add(Signal(m, Cat({m.r.Chance(0.08) ? 0 : m.r.Int(1, 3), channels}, m.Shape(1, 3))));
  m.Add(Signal(m, {channels}));
  m.Add(Signal(m, {channels}));
  m.Set("epsilon", 0.125);  // small variances make the figures large
}

bool PlainInstanceNormalization(const RandomCase& c, HostTensor* out) {
  return NormalizedInGroups(c, 1, out);
}

}  // namespace

GE_RANDOM_OP(instance_normalization) = {"InstanceNormalization", InstanceNormalizationCase, 8e-6,
                                        Error::kOfInputs, PlainInstanceNormalization};

}  // namespace ge::test
