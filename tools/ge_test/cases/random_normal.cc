#include "tools/ge_test/oracle/philox.h"

namespace ge::test {
namespace {

void RandomNormalCase(CaseMaker& m) {
  AddRandomShape(m);
  if (m.r.Chance(0.5)) m.Set("mean", 2.5);
  if (m.r.Chance(0.5)) m.Set("scale", 0.5);
}

}  // namespace

GE_RANDOM_OP(random_normal) = {"RandomNormal", RandomNormalCase, 2e-6, Error::kOfOutput,
                               PlainRandomNormal};

}  // namespace ge::test
