#include <limits>

#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void IsNaNCase(CaseMaker& m) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  auto t = m.Numbers(m.dtype(), m.Shape(0, 4), -3, 3);
  for (int64_t i = 0, n = t->count(); i < n; ++i) {
    if (m.r.Chance(0.4)) continue;
    SetElement(t.get(), i, m.r.Pick(std::vector<double>{0, kInfinity, -kInfinity, std::nan("")}));
  }
  m.Add(t);
}

bool PlainIsNaN(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return std::isnan(x) ? 1.0 : 0.0; },
      [](int64_t, int64_t) { return int64_t{0}; });
}

}  // namespace

GE_RANDOM_OP(is_nan) = {"IsNaN", IsNaNCase, 0, Error::kOfElement, PlainIsNaN};

}  // namespace ge::test
