#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

// Few values, so that most occur several times; output 0 alone is checked.
void UniqueMsCase(CaseMaker& m) {
  auto x = m.Numbers(m.dtype(), m.Shape(1, 1), 0, 4);
  for (int64_t i = 0, n = x->count(); i < n; ++i) SetElement(x.get(), i, m.r.Int(0, 4));
  m.Add(x);
  m.c.outputs = 3;
}

bool PlainUniqueMs(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  std::vector<double> values;
  for (int64_t i = 0, n = x.count(); i < n; ++i) {
    const double v = ElementAsDouble(x, i);
    if (std::find(values.begin(), values.end(), v) == values.end()) values.push_back(v);
  }
  if (out->dims != Dims{static_cast<int64_t>(values.size())}) return false;
  for (size_t i = 0; i < values.size(); ++i) {
    SetElement(out, static_cast<int64_t>(i), values[i]);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_unique) = {"com.microsoft.Unique", UniqueMsCase, 0, Error::kOfElement,
                                  PlainUniqueMs};

}  // namespace ge::test
