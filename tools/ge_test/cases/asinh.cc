#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void AsinhCase(CaseMaker& m) { m.Add(m.Numbers(m.dtype(), m.Shape(0, 4), -3, 3)); }

bool PlainAsinh(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out,
      [](double x, double) {
        return std::copysign(std::log1p(std::fabs(x) + x * x / (1 + std::sqrt(x * x + 1))), x);
      },
      [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(asinh) = {"Asinh", AsinhCase, 2e-6, Error::kOfElement, PlainAsinh};

}  // namespace ge::test
