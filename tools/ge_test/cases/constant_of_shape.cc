#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void ConstantOfShapeCase(CaseMaker& m) {
  AddShape(m, m.Shape(0, 4));
  if (m.r.Chance(0.8)) m.c.value = Anything(m, {1});
  m.c.typed = false;
}

bool PlainConstantOfShape(const RandomCase& c, HostTensor* out) {
  if (Values(*c.inputs[0].tensor) != out->dims) return false;
  for (int64_t i = 0, n = out->count(); i < n && c.value; ++i) Copy(*c.value, 0, out, i);
  return true;
}

}  // namespace

GE_RANDOM_OP(constant_of_shape) = {"ConstantOfShape", ConstantOfShapeCase, 0, Error::kOfElement,
                                   PlainConstantOfShape};

}  // namespace ge::test
