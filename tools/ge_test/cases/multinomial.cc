#include "tools/ge_test/oracle/philox.h"

namespace ge::test {
namespace {

void MultinomialCase(CaseMaker& m) {
  m.Add(m.Numbers(m.dtype(), {m.r.Chance(0.05) ? 0 : m.r.Int(1, 4), m.r.Int(1, 6)}, -3, 3));
  if (m.r.Chance(0.7)) m.Set("sample_size", m.r.Int(1, 9));
  if (m.r.Chance(0.4)) m.Set("dtype", static_cast<int64_t>(DType::kInt64));
  AddRandomSeed(m);
}

bool PlainMultinomial(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const int64_t classes = x.dims[1], samples = IntOr(c, "sample_size", 1);
  if (out->dims != Dims{x.dims[0], samples}) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    const auto weight = [&](int64_t k) {
      return std::exp(ElementAsDouble(x, i / samples * classes + k));
    };
    double all = 0;
    for (int64_t k = 0; k < classes; ++k) all += weight(k);
    double left = PlainDraw(c, i) * all;
    int64_t found = 0;
    while (found < classes - 1 && left >= weight(found)) left -= weight(found++);
    SetIntElement(out, i, found);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(multinomial) = {"Multinomial", MultinomialCase, 0, Error::kOfElement,
                             PlainMultinomial};

}  // namespace ge::test
