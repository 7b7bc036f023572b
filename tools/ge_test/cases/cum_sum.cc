#include "tools/ge_test/random/cumulations.h"

namespace ge::test {
namespace {

bool PlainCumSum(const RandomCase& c, HostTensor* out) {
  return PlainCumulation(c, out, 0, [](auto a, auto v) { return a + v; });
}

}  // namespace

GE_RANDOM_OP(cum_sum) = {"CumSum", CumulationCase, 4e-6, Error::kOfSums, PlainCumSum};

}  // namespace ge::test
