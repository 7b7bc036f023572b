#include "tools/ge_test/random_layers.h"

namespace ge::test {
namespace {

void AveragePoolCase(CaseMaker& m) { AddPool(m, "count_include_pad"); }

}  // namespace

GE_RANDOM_OP(average_pool) = {"AveragePool", AveragePoolCase, 2e-6, Error::kOfTerms};

}  // namespace ge::test
