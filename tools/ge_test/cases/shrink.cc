#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void ShrinkCase(CaseMaker& m) {
  UnaryCase(m);
  const double most = IsFloat(m.dtype()) ? 2 : 10;
  if (m.r.Chance(0.6)) m.Set("lambd", static_cast<float>(m.r.Between(-0.5, most)) * 1.0);
  if (m.r.Chance(0.6)) {
    const float bias = static_cast<float>(m.r.Between(-most, most));
    m.Set("bias", (m.r.Chance(0.5) ? bias : std::round(bias)) * 1.0);
  }
}

bool PlainShrink(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims) return false;
  const double lambd = FloatOr(c, "lambd", 0.5), bias = FloatOr(c, "bias", 0);
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const double v = ElementAsDouble(x, i);
    double y = 0;
    if (v < -lambd) {
      y = v + bias;
    } else if (v > lambd) {
      y = v - bias;
    }
    if (IsFloat(x.dtype)) {
      SetElement(out, i, y);
    } else {
      SetIntElement(out, i, static_cast<int64_t>(y));
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(shrink) = {"Shrink", ShrinkCase, 1e-6, Error::kOfTerms, PlainShrink};

}  // namespace ge::test
