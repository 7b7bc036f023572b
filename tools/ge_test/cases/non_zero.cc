#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

// About half of the elements are 0.
void NonZeroCase(CaseMaker& m) {
  auto x = m.Numbers(m.dtype(), m.Shape(1, 4), -3, 3);
  for (int64_t i = 0, n = x->count(); i < n; ++i) {
    if (m.r.Chance(0.5)) SetElement(x.get(), i, 0);
  }
  m.Add(x);
}

bool PlainNonZero(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  std::vector<Dims> places;
  Index at(x.dims);
  for (int64_t i = 0, n = x.count(); i < n; ++i, at.Next()) {
    if (ElementAsDouble(x, i) != 0) places.push_back(at.at);
  }
  const auto found = static_cast<int64_t>(places.size());
  if (out->dims != Dims{Rank(x.dims), found}) return false;
  for (size_t k = 0; k < places.size(); ++k) {
    for (size_t d = 0; d < x.dims.size(); ++d) {
      SetIntElement(out, static_cast<int64_t>(d) * found + static_cast<int64_t>(k), places[k][d]);
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(non_zero) = {"NonZero", NonZeroCase, 0, Error::kOfElement, PlainNonZero};

}  // namespace ge::test
