#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

// Quarters, so that ties are met.
void FloorCase(CaseMaker& m) {
  auto t = m.Numbers(m.dtype(), m.Shape(0, 4), -3, 3);
  for (int64_t i = 0, n = t->count(); i < n; ++i) {
    if (m.r.Chance(0.5)) SetElement(t.get(), i, static_cast<double>(m.r.Int(-20, 20)) / 4);
  }
  m.Add(t);
}

bool PlainFloor(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return -std::ceil(-x); },
      [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(floor) = {"Floor", FloorCase, 0, Error::kOfElement, PlainFloor};

}  // namespace ge::test
