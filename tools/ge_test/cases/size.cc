#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void SizeCase(CaseMaker& m) { m.Add(Anything(m, m.Shape(0, 4))); }

bool PlainSize(const RandomCase& c, HostTensor* out) {
  if (!out->dims.empty()) return false;
  int64_t n = 1;
  for (int64_t d : c.inputs[0].tensor->dims) n *= d;
  SetIntElement(out, 0, n);
  return true;
}

}  // namespace

GE_RANDOM_OP(size) = {"Size", SizeCase, 0, Error::kOfElement, PlainSize};

}  // namespace ge::test
