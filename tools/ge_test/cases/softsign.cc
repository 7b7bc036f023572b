#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

bool PlainSoftsign(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return x < 0 ? x / (1 - x) : x / (1 + x); },
      [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(softsign) = {"Softsign", UnaryCase, 1e-6, Error::kOfElement, PlainSoftsign};

}  // namespace ge::test
