#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

bool PlainTanh(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return std::expm1(2 * x) / (std::expm1(2 * x) + 2); },
      [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(tanh) = {"Tanh", UnaryCase, 2e-6, Error::kOfElement, PlainTanh};

}  // namespace ge::test
