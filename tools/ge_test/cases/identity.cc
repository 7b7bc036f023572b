#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

bool PlainIdentity(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return x; }, [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(identity) = {"Identity", UnaryCase, 0, Error::kOfElement, PlainIdentity};

}  // namespace ge::test
