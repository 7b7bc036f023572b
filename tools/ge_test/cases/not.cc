#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

bool PlainNot(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return x; },
      [](int64_t x, int64_t) { return int64_t{x == 0}; });
}

}  // namespace

GE_RANDOM_OP(not ) = {"Not", UnaryCase, 0, Error::kOfElement, PlainNot};

}  // namespace ge::test
