#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void SinhCase(CaseMaker& m) { m.Add(m.Numbers(m.dtype(), m.Shape(0, 4), -3, 3)); }

bool PlainSinh(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return (std::exp(x) - std::exp(-x)) / 2; },
      [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(sinh) = {"Sinh", SinhCase, 2e-6, Error::kOfElement, PlainSinh};

}  // namespace ge::test
