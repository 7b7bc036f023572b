#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void DivCase(CaseMaker& m) {
  const auto [a, b] = BroadcastPair(m);
  m.Add(m.Numbers(m.dtype(), a, Least(m), Greatest(m)));
  m.Add(AwayFromZero(m, b, true));
}

bool PlainDiv(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double y) { return x / y; }, [](int64_t x, int64_t y) { return x / y; });
}

}  // namespace

GE_RANDOM_OP(div) = {"Div", DivCase, 1e-6, Error::kOfElement, PlainDiv};

}  // namespace ge::test
