#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

bool PlainBitwiseNot(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return x; }, [](int64_t x, int64_t) { return -1 - x; });
}

}  // namespace

GE_RANDOM_OP(bitwise_not) = {"BitwiseNot", UnaryCase, 0, Error::kOfElement, PlainBitwiseNot};

}  // namespace ge::test
