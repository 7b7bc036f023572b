#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

bool PlainSin(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return std::sin(x); }, [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(sin) = {"Sin", UnaryCase, 2e-6, Error::kOfElement, PlainSin};

}  // namespace ge::test
