#include "tools/ge_test/oracle/windows.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {
namespace {

void AveragePoolCase(CaseMaker& m) { AddPool(m, "count_include_pad"); }

bool PlainAveragePool(const RandomCase& c, HostTensor* out) {
  return PlainAverage(c, IntsOr(c, "kernel_shape", {}), IntOr(c, "count_include_pad", 0) != 0, out);
}

}  // namespace

GE_RANDOM_OP(average_pool) = {"AveragePool", AveragePoolCase, 2e-6, Error::kOfSums,
                              PlainAveragePool};

}  // namespace ge::test
