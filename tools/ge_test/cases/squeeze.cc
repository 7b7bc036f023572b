#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void SqueezeCase(CaseMaker& m) {
  Dims dims = m.Shape(0, 4);
  std::vector<int64_t> axes;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!m.r.Chance(0.4)) continue;
    dims[i] = 1;
    axes.push_back(m.Axis(static_cast<int64_t>(i), Rank(dims)));
  }
  Shuffle(m, &axes);
  m.Add(Anything(m, dims));
  if (m.r.Chance(0.7)) AddShape(m, axes);
}

}  // namespace

GE_RANDOM_OP(squeeze) = {"Squeeze", SqueezeCase, 0, Error::kOfElement, InOrder};

}  // namespace ge::test
