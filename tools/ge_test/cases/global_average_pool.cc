#include "tools/ge_test/oracle/windows.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {

namespace {

bool PlainGlobalAveragePool(const RandomCase& c, HostTensor* out) {
  return PlainAverage(c, SpatialOf(c.inputs[0].tensor->dims), false, out);
}

}  // namespace

GE_RANDOM_OP(global_average_pool) = {"GlobalAveragePool", GlobalPoolCase, 2e-6, Error::kOfSums,
                                     PlainGlobalAveragePool};

}  // namespace ge::test
