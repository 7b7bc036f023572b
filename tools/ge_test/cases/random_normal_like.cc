#include "tools/ge_test/oracle/philox.h"

namespace ge::test {
namespace {

void RandomNormalLikeCase(CaseMaker& m) {
  AddRandomInput(m);
  if (m.r.Chance(0.5)) m.Set("mean", 2.5);
  if (m.r.Chance(0.5)) m.Set("scale", 0.5);
}

}  // namespace

GE_RANDOM_OP(random_normal_like) = {"RandomNormalLike", RandomNormalLikeCase, 2e-6,
                                    Error::kOfOutput, PlainRandomNormal};

}  // namespace ge::test
