#include "tools/ge_test/oracle/plain.h"

namespace ge::test {
namespace {

// Quarters, so that the number of elements is exact in every float type.
void RangeCase(CaseMaker& m) {
  const bool real = IsFloat(m.dtype());
  const double unit = real ? 0.25 : 1, start = static_cast<double>(m.r.Int(0, 20)) * unit;
  const bool down = m.r.Chance(0.4) && (real || (Bit(m.dtype()) & kSignedInts) != 0);
  const double delta = static_cast<double>(m.r.Int(1, 5)) * unit * (down ? -1 : 1);
  const double limit = start + static_cast<double>(m.r.Int(-3, 20)) * unit * (down ? -1 : 1);
  for (const double v : {start, std::max(limit, down ? -10.0 : 0.0), delta}) {
    m.AddConstant(m.Floats(m.dtype(), {}, {v}));
  }
}

bool PlainRange(const RandomCase& c, HostTensor* out) {
  const double start = ElementAsDouble(*c.inputs[0].tensor, 0),
               limit = ElementAsDouble(*c.inputs[1].tensor, 0),
               delta = ElementAsDouble(*c.inputs[2].tensor, 0);
  int64_t n = 0;
  for (double v = start; delta > 0 ? v < limit : v > limit; v += delta) {
    if (n < out->count()) SetElement(out, n, v);
    ++n;
  }
  return out->dims == Dims{n};
}

}  // namespace

GE_RANDOM_OP(range) = {"Range", RangeCase, 0, Error::kOfElement, PlainRange};

}  // namespace ge::test
