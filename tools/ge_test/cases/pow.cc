#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void PowCase(CaseMaker& m) {
  const auto [a, b] = BroadcastPair(m);
  const bool real = IsFloat(m.dtype());
  if (real && m.r.Chance(0.3)) {  // the powers that engines have kernels of their own for
    m.Add(AwayFromZero(m, a, false));
    m.AddConstant(
        m.Floats(m.dtype(), {}, {m.r.Pick(std::vector<double>{2, 3, 0.5, 1, -1, -0.5, 0})}));
    return;
  }
  m.Add(real && m.r.Chance(0.5) ? AwayFromZero(m, a, false) : m.Numbers(m.dtype(), a, -4, 4));
  const HostTensor& base = *m.c.inputs[0].tensor;
  const bool positive = real && base.count() == 1 && ElementAsDouble(base, 0) > 0;
  if (positive) {
    m.Add(m.Numbers(m.dtype(), b, -2, 3));
    return;
  }
  // Whole exponents in any type: a negative base has no other real power.
  const DType type = m.r.Pick(
      std::vector<DType>{m.dtype(), DType::kInt32, DType::kInt64, DType::kUint8, DType::kFloat});
  auto t = m.Numbers(type, b, 0, 5);
  for (int64_t i = 0, n = t->count(); i < n; ++i) SetElement(t.get(), i, m.r.Int(0, 5));
  m.Add(t);
}

bool PlainPow(const RandomCase& c, HostTensor* out) {
  if (!IsBroadcastOf(c, out->dims)) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const HostTensor &a = *c.inputs[0].tensor, &b = *c.inputs[1].tensor;
    SetElement(
        out, i,
        std::pow(ElementAsDouble(a, Broadcast(a, at.at)), ElementAsDouble(b, Broadcast(b, at.at))));
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(pow) = {"Pow", PowCase, 4e-6, Error::kOfElement, PlainPow};

}  // namespace ge::test
