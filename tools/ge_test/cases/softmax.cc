#include "tools/ge_test/random_case.h"

namespace ge::test {
namespace {

void SoftmaxCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 4);
  const auto rank = static_cast<int64_t>(dims.size());
  m.Add(m.Numbers(m.dtype(), dims, -5, 5));
  if (m.r.Chance(0.8)) m.Set("axis", m.Axis(m.r.Int(0, rank - 1), rank));
}

}  // namespace

GE_RANDOM_OP(softmax) = {"Softmax", SoftmaxCase, 4e-6, Error::kOfOutput};

}  // namespace ge::test
