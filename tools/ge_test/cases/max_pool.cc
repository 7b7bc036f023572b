#include "tools/ge_test/random_layers.h"

namespace ge::test {
namespace {

void MaxPoolCase(CaseMaker& m) {
  AddPool(m, "storage_order");
  if (m.r.Chance(0.4)) m.c.outputs = 2;
}

}  // namespace

GE_RANDOM_OP(max_pool) = {"MaxPool", MaxPoolCase, 0, Error::kOfOutput};

}  // namespace ge::test
