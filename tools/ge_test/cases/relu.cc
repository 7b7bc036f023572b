#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

bool PlainRelu(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return x > 0 ? x : 0; },
      [](int64_t x, int64_t) { return x > 0 ? x : 0; });
}

}  // namespace

GE_RANDOM_OP(relu) = {"Relu", UnaryCase, 0, Error::kOfElement, PlainRelu};

}  // namespace ge::test
