#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

bool PlainXor(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double, double) { return 0.0; },
      [](int64_t x, int64_t y) { return x + y == 1 ? int64_t{1} : int64_t{0}; });
}

}  // namespace

GE_RANDOM_OP(xor) = {"Xor", BinaryCase, 0, Error::kOfElement, PlainXor};

}  // namespace ge::test
