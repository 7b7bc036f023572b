#include "tools/ge_test/random/casts.h"

namespace ge::test {
namespace {

void CastLikeCase(CaseMaker& m) {
  const DType to = AddCastInput(m);
  m.Add(m.Numbers(to, m.Shape(0, 2), 0, 1));
}

bool PlainCastLike(const RandomCase& c, HostTensor* out) {
  return out->dtype == c.inputs[1].tensor->dtype && PlainCastTo(c, out);
}

}  // namespace

GE_RANDOM_OP(cast_like) = {"CastLike", CastLikeCase, 0, Error::kOfElement, PlainCastLike};

}  // namespace ge::test
