#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void ClipCase(CaseMaker& m) {
  m.Add(m.Numbers(m.dtype(), m.Shape(0, 4), Least(m), Greatest(m)));
  if (m.r.Chance(0.3)) {
    m.AddAbsent();
  } else {
    m.Add(m.Numbers(m.dtype(), {}, Least(m) / 2, 1));
  }
  if (m.r.Chance(0.7)) m.Add(m.Numbers(m.dtype(), {}, 0, Greatest(m) / 2));
}

bool PlainClip(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    double v = ElementAsDouble(x, i);
    if (Maybe(c, 1) != nullptr) v = std::max(v, ElementAsDouble(*Maybe(c, 1), 0));
    if (Maybe(c, 2) != nullptr) v = std::min(v, ElementAsDouble(*Maybe(c, 2), 0));
    SetElement(out, i, v);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(clip) = {"Clip", ClipCase, 0, Error::kOfElement, PlainClip};

}  // namespace ge::test
