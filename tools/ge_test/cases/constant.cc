#include "tools/ge_test/plain.h"
#include "tools/ge_test/random_shapes.h"

namespace ge::test {
namespace {

void ConstantCase(CaseMaker& m) { m.c.value = Anything(m, m.Shape(0, 4)); }

bool PlainConstant(const RandomCase& c, HostTensor* out) {
  if (c.value->dims != out->dims) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) Copy(*c.value, i, out, i);
  return true;
}

}  // namespace

GE_RANDOM_OP(constant) = {"Constant", ConstantCase, 0, Error::kOfElement, PlainConstant};

}  // namespace ge::test
