#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void TriluCase(CaseMaker& m) {
  m.Add(Anything(m, m.Shape(2, 4)));
  if (m.r.Chance(0.7))
    m.Add(m.Ints(DType::kInt64, {}, {m.r.Chance(0.1) ? INT64_MIN : m.r.Int(-6, 6)}));
  if (m.r.Chance(0.6)) m.Set("upper", m.r.Int(0, 1));
}

// What is not copied stays zero, as `out` was made.
bool PlainTrilu(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims) return false;
  const size_t rank = x.dims.size();
  const int64_t k = Maybe(c, 1) ? ElementAsInt(*Maybe(c, 1), 0) : 0;
  const bool upper = IntOr(c, "upper", 1) != 0;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const int64_t distance = at.at[rank - 1] - at.at[rank - 2];
    if (upper ? distance >= k : distance <= k) Copy(x, i, out, i);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(trilu) = {"Trilu", TriluCase, 0, Error::kOfElement, PlainTrilu};

}  // namespace ge::test
