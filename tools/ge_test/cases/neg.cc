#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

bool PlainNeg(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return -x; }, [](int64_t x, int64_t) { return -x; });
}

}  // namespace

GE_RANDOM_OP(neg) = {"Neg", UnaryCase, 0, Error::kOfElement, PlainNeg};

}  // namespace ge::test
