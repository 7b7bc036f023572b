#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

// With enough zeros.
void SignCase(CaseMaker& m) {
  auto t = m.Numbers(m.dtype(), m.Shape(0, 4), -3, 3);
  for (int64_t i = 0, n = t->count(); i < n; ++i) {
    if (m.r.Chance(0.3)) SetElement(t.get(), i, 0);
  }
  m.Add(t);
}

bool PlainSign(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return x < 0   ? -1.0
                                            : x > 0 ? 1.0
                                                    : 0.0; },
      [](int64_t x, int64_t) { return int64_t{x > 0} - int64_t{x < 0}; });
}

}  // namespace

GE_RANDOM_OP(sign) = {"Sign", SignCase, 0, Error::kOfElement, PlainSign};

}  // namespace ge::test
