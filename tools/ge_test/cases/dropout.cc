#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void DropoutCase(CaseMaker& m) {
  UnaryCase(m);
  if (m.r.Chance(0.5)) {
    m.Add(m.Numbers(DType::kFloat, {}, 0, 0.9));
    if (m.r.Chance(0.5)) m.Add(m.Ints(DType::kBool, {}, {0}));
  }
  if (m.r.Chance(0.5)) m.c.outputs = 2;
}

// Nothing is dropped outside training.
bool PlainDropoutMask(const RandomCase& c, size_t, HostTensor* out) {
  for (int64_t i = 0, n = out->count(); i < n; ++i) SetIntElement(out, i, 1);
  return out->dims == c.inputs[0].tensor->dims;
}

}  // namespace

GE_RANDOM_OP(dropout) = {"Dropout", DropoutCase, 0, Error::kOfElement, InOrder, PlainDropoutMask};

}  // namespace ge::test
