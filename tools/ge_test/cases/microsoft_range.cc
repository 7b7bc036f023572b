#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

// Quarters, so that the number of elements is exact in every float type.
void RangeMsCase(CaseMaker& m) {
  const bool real = IsFloat(m.dtype());
  const double unit = real ? 0.25 : 1, start = static_cast<double>(m.r.Int(0, 9)) * unit;
  const auto scalar = [&](double v) {
    m.AddConstant(m.Floats(m.dtype(), m.r.Chance(0.5) ? Dims{} : Dims{1}, {v}));
  };
  scalar(start);
  scalar(start + static_cast<double>(m.r.Int(-3, 15)) * unit);
  if (m.r.Chance(0.6)) scalar(static_cast<double>(m.r.Int(1, 4)) * unit);
}

bool PlainRangeMs(const RandomCase& c, HostTensor* out) {
  const double start = ElementAsDouble(*c.inputs[0].tensor, 0),
               limit = ElementAsDouble(*c.inputs[1].tensor, 0);
  const double delta = ElementOr(Maybe(c, 2), 0, 1);
  int64_t n = 0;
  for (double v = start; v < limit; v += delta) {
    if (n < out->count()) SetElement(out, n, v);
    ++n;
  }
  return out->dims == Dims{n};
}

}  // namespace

GE_RANDOM_OP(microsoft_range) = {"com.microsoft.Range", RangeMsCase, 0, Error::kOfElement,
                                 PlainRangeMs};

}  // namespace ge::test
