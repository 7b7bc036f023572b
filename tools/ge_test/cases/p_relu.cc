#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void PReluCase(CaseMaker& m) {
  const Dims to = m.Shape(0, 4);
  m.Add(m.Numbers(m.dtype(), to, Least(m), Greatest(m)));
  m.Add(m.Numbers(m.dtype(), m.Narrowed(to), IsFloat(m.dtype()) ? -1 : -5, 5));
}

bool PlainPRelu(const RandomCase& c, HostTensor* out) {
  if (c.inputs[0].tensor->dims != out->dims) return false;
  return Elementwise(
      c, out, [](double x, double y) { return std::max(x, 0.0) + y * std::min(x, 0.0); },
      [](int64_t x, int64_t y) { return x < 0 ? x * y : x; });
}

}  // namespace

GE_RANDOM_OP(p_relu) = {"PRelu", PReluCase, 1e-6, Error::kOfElement, PlainPRelu};

}  // namespace ge::test
