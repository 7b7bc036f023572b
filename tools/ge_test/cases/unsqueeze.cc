#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void UnsqueezeCase(CaseMaker& m) {
  const Dims dims = m.Shape(0, 3);
  m.Add(Anything(m, dims));
  const int64_t more = m.r.Int(1, 3), rank = Rank(dims) + more;
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  Shuffle(m, &axes);
  axes.resize(static_cast<size_t>(more));
  for (int64_t& a : axes) a = m.Axis(a, rank);
  AddShape(m, axes);
}

}  // namespace

GE_RANDOM_OP(unsqueeze) = {"Unsqueeze", UnsqueezeCase, 0, Error::kOfElement, InOrder};

}  // namespace ge::test
