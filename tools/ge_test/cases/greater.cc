#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

// Few values, so that many pairs are equal.
void GreaterCase(CaseMaker& m) {
  const auto [a, b] = BroadcastPair(m);
  for (const Dims& dims : {a, b}) {
    auto t = m.Numbers(m.dtype(), dims, 0, 1);
    for (int64_t i = 0, n = t->count(); i < n; ++i) SetElement(t.get(), i, m.r.Int(0, 3));
    m.Add(t);
  }
}

bool PlainGreater(const RandomCase& c, HostTensor* out) {
  return Elementwise(
      c, out, [](double x, double y) { return x > y ? 1.0 : 0.0; },
      [](int64_t x, int64_t y) { return int64_t{x > y}; });
}

}  // namespace

GE_RANDOM_OP(greater) = {"Greater", GreaterCase, 0, Error::kOfElement, PlainGreater};

}  // namespace ge::test
