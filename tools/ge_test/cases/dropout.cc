#include "tools/ge_test/random_elementwise.h"

namespace ge::test {
namespace {

void DropoutCase(CaseMaker& m) {
  UnaryCase(m);
  if (m.r.Chance(0.5)) {
    m.Add(m.Numbers(DType::kFloat, {}, 0, 0.9));
    if (m.r.Chance(0.5)) m.Add(m.Ints(DType::kBool, {}, {0}));
  }
  if (m.r.Chance(0.5)) m.c.outputs = 2;
}

}  // namespace

GE_RANDOM_OP(dropout) = {"Dropout", DropoutCase, 0, Error::kOfOutput};

}  // namespace ge::test
