#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

bool PlainSqrt(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return std::sqrt(x); }, [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(sqrt) = {"Sqrt", AwayFromZeroCase, 1e-6, Error::kOfElement, PlainSqrt};

}  // namespace ge::test
