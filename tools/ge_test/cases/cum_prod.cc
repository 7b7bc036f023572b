#include "tools/ge_test/random/cumulations.h"

namespace ge::test {
namespace {

bool PlainCumProd(const RandomCase& c, HostTensor* out) {
  return PlainCumulation(c, out, 1, [](auto a, auto v) { return a * v; });
}

}  // namespace

GE_RANDOM_OP(cum_prod) = {"CumProd", CumulationCase, 4e-6, Error::kOfTerms, PlainCumProd};

}  // namespace ge::test
