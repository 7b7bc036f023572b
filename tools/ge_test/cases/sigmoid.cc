#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

bool PlainSigmoid(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return 0.5 * (1 + std::tanh(x / 2)); },
      [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(sigmoid) = {"Sigmoid", UnaryCase, 2e-6, Error::kOfElement, PlainSigmoid};

}  // namespace ge::test
