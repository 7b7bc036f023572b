#include "tools/ge_test/oracle/philox.h"

namespace ge::test {
namespace {

void RandomUniformLikeCase(CaseMaker& m) {
  AddRandomInput(m);
  if (m.r.Chance(0.5)) m.Set("low", -1.5);
  if (m.r.Chance(0.5)) m.Set("high", 3.0);
}

}  // namespace

GE_RANDOM_OP(random_uniform_like) = {"RandomUniformLike", RandomUniformLikeCase, 2e-6,
                                     Error::kOfOutput, PlainRandomUniform};

}  // namespace ge::test
