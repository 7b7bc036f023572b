#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

bool PlainOr(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double, double) { return 0.0; },
      [](int64_t x, int64_t y) { return x + y == 0 ? int64_t{0} : int64_t{1}; });
}

}  // namespace

GE_RANDOM_OP(or) = {"Or", BinaryCase, 0, Error::kOfElement, PlainOr};

}  // namespace ge::test
