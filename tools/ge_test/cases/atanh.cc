#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void AtanhCase(CaseMaker& m) { m.Add(m.Numbers(m.dtype(), m.Shape(0, 4), -0.9, 0.9)); }

bool PlainAtanh(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return std::log1p(2 * x / (1 - x)) / 2; },
      [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(atanh) = {"Atanh", AtanhCase, 2e-6, Error::kOfElement, PlainAtanh};

}  // namespace ge::test
