#include <limits>

#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void IsInfCase(CaseMaker& m) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  auto t = m.Numbers(m.dtype(), m.Shape(0, 4), -3, 3);
  for (int64_t i = 0, n = t->count(); i < n; ++i) {
    if (m.r.Chance(0.4)) continue;
    SetElement(t.get(), i, m.r.Pick(std::vector<double>{0, kInfinity, -kInfinity, std::nan("")}));
  }
  m.Add(t);
  if (m.r.Chance(0.5)) m.Set("detect_negative", m.r.Int(0, 1));
  if (m.r.Chance(0.5)) m.Set("detect_positive", m.r.Int(0, 1));
}

bool PlainIsInf(const RandomCase& c, HostTensor* out) {
  const bool below = IntOr(c, "detect_negative", 1) != 0;
  const bool above = IntOr(c, "detect_positive", 1) != 0;
  return Elementwise(
      c, out,
      [&](double x, double) {
        return std::isinf(x) && (std::signbit(x) ? below : above) ? 1.0 : 0.0;
      },
      [](int64_t, int64_t) { return int64_t{0}; });
}

}  // namespace

GE_RANDOM_OP(is_inf) = {"IsInf", IsInfCase, 0, Error::kOfElement, PlainIsInf};

}  // namespace ge::test
