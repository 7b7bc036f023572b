#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

bool PlainAbs(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return x < 0 ? -x : x; },
      [](int64_t x, int64_t) { return x < 0 ? -x : x; });
}

}  // namespace

GE_RANDOM_OP(abs) = {"Abs", UnaryCase, 0, Error::kOfElement, PlainAbs};

}  // namespace ge::test
