#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void GroupNormalizationCase(CaseMaker& m) {
  const int64_t groups = m.r.Int(1, 4), channels = groups * m.Size(3, 8);
  m.Add(Signal(m, Cat({m.r.Chance(0.08) ? 0 : m.r.Int(1, 3), channels}, m.Shape(0, 3))));
  m.Add(Signal(m, {channels}));
  m.Add(Signal(m, {channels}));
  m.Set("num_groups", groups);
  m.Set("epsilon", 0.125);  // small variances make the figures large
}

bool PlainGroupNormalization(const RandomCase& c, HostTensor* out) {
  const int64_t channels = c.inputs[0].tensor->dims[1];
  return NormalizedInGroups(c, channels / IntOr(c, "num_groups", 1), out);
}

}  // namespace

GE_RANDOM_OP(group_normalization) = {"GroupNormalization", GroupNormalizationCase, 8e-6,
                                     Error::kOfInputs, PlainGroupNormalization};

}  // namespace ge::test
