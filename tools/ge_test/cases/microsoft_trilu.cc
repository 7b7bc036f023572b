#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

void TriluMsCase(CaseMaker& m) {
  m.Add(Signal(m, m.Shape(2, 4)));
  if (m.r.Chance(0.6)) m.Add(m.Numbers(DType::kInt64, {}, -4, 4));
  if (m.r.Chance(0.6)) m.Set("upper", m.r.Int(0, 1));
}

bool PlainTriluMs(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims) return false;
  const int64_t k = Maybe(c, 1) != nullptr ? ElementAsInt(*Maybe(c, 1), 0) : 0;
  const bool upper = IntOr(c, "upper", 1) != 0;
  Index at(x.dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const int64_t off = at.at.back() - at.at[at.at.size() - 2] - k;
    if (upper ? off >= 0 : off <= 0) Copy(x, i, out, i);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_trilu) = {"com.microsoft.Trilu", TriluMsCase, 0, Error::kOfElement,
                                 PlainTriluMs};

}  // namespace ge::test
