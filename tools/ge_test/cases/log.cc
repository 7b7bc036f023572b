#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void LogCase(CaseMaker& m) { m.Add(m.Numbers(m.dtype(), m.Shape(0, 4), 0.0625, 6)); }

bool PlainLog(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double) { return 2 * std::atanh((x - 1) / (x + 1)); },
      [](int64_t x, int64_t) { return x; });
}

}  // namespace

GE_RANDOM_OP(log) = {"Log", LogCase, 2e-6, Error::kOfElement, PlainLog};

}  // namespace ge::test
