#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

bool PlainSoftplus(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return std::log(1 + std::exp(x)); },
      [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(softplus) = {"Softplus", UnaryCase, 2e-6, Error::kOfElement, PlainSoftplus};

}  // namespace ge::test
