#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

bool PlainMish(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return x * (1 - 2 / (std::pow(1 + std::exp(x), 2) + 1)); },
      [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(mish) = {"Mish", UnaryCase, 2e-6, Error::kOfElement, PlainMish};

}  // namespace ge::test
