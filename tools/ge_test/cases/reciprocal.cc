#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

bool PlainReciprocal(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return 1 / x; }, [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(reciprocal) = {"Reciprocal", AwayFromZeroCase, 1e-6, Error::kOfElement,
                            PlainReciprocal};

}  // namespace ge::test
