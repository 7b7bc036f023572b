#include "tools/ge_test/oracle/philox.h"

namespace ge::test {
namespace {

void BernoulliCase(CaseMaker& m) {
  m.Add(m.Numbers(m.dtype(), m.Shape(0, 4), 0, 1));
  if (m.r.Chance(0.4)) {
    const DType to = m.r.Pick(std::vector<DType>{DType::kBool, DType::kInt8, DType::kUint64,
                                                 DType::kFloat, DType::kDouble});
    m.Set("dtype", static_cast<int64_t>(to));
  }
  AddRandomSeed(m);
}

bool PlainBernoulli(const RandomCase& c, HostTensor* out) {
  if (!HasDrawnType(c, *out)) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const bool drawn = PlainDraw(c, i) < ElementAsDouble(*c.inputs[0].tensor, i);
    if (IsFloat(out->dtype)) {
      SetElement(out, i, drawn ? 1 : 0);
    } else {
      SetIntElement(out, i, drawn ? 1 : 0);
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(bernoulli) = {"Bernoulli", BernoulliCase, 0, Error::kOfElement, PlainBernoulli};

}  // namespace ge::test
