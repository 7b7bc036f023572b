#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void FlattenCase(CaseMaker& m) {
  const Dims dims = m.Shape(0, 4);
  m.Add(Anything(m, dims));
  // The default axis, 1, is none of a scalar's.
  if (dims.empty() || m.r.Chance(0.8)) m.Set("axis", m.r.Int(-Rank(dims), Rank(dims)));
}

bool PlainFlatten(const RandomCase& c, HostTensor* out) {
  const Dims& in = c.inputs[0].tensor->dims;
  int64_t axis = IntOr(c, "axis", 1), rows = 1, cols = 1;
  if (axis < 0) axis += static_cast<int64_t>(in.size());
  for (size_t d = 0; d < in.size(); ++d) (static_cast<int64_t>(d) < axis ? rows : cols) *= in[d];
  return out->dims == Dims{rows, cols} && InOrder(c, out);
}

}  // namespace

GE_RANDOM_OP(flatten) = {"Flatten", FlattenCase, 0, Error::kOfElement, PlainFlatten};

}  // namespace ge::test
