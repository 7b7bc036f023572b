#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

bool PlainMul(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double y) { return x * y; }, [](int64_t x, int64_t y) { return x * y; });
}

}  // namespace

GE_RANDOM_OP(mul) = {"Mul", BinaryCase, 1e-6, Error::kOfElement, PlainMul};

}  // namespace ge::test
