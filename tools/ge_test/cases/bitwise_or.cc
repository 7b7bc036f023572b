#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

bool PlainBitwiseOr(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double, double) { return 0.0; },
      [](int64_t x, int64_t y) { return x + y - (x & y); });
}

}  // namespace

GE_RANDOM_OP(bitwise_or) = {"BitwiseOr", BinaryCase, 0, Error::kOfElement, PlainBitwiseOr};

}  // namespace ge::test
