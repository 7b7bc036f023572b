#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void ReshapeCase(CaseMaker& m) {
  const Dims dims = m.Shape(0, 4);
  m.Add(Anything(m, dims));
  std::vector<int64_t> to = dims;
  Shuffle(m, &to);
  const bool allow_zero = m.r.Chance(0.3);
  if (to.size() >= 2 && m.r.Chance(0.4)) {  // two sizes become one
    to[0] *= to[1];
    to.erase(to.begin() + 1);
  }
  if (m.r.Chance(0.3)) to.insert(to.begin() + m.r.Int(0, static_cast<int64_t>(to.size())), 1);
  const bool empty = std::count(dims.begin(), dims.end(), 0) > 0;
  if (allow_zero) {
    m.Set("allowzero", int64_t{1});
  } else {
    for (size_t i = 0; i < to.size(); ++i) {  // 0 copies the size at the same place
      if (i < dims.size() && to[i] == dims[i] && m.r.Chance(0.3)) to[i] = 0;
      // A size of 0 can be had by copying alone.
      if (i >= dims.size() || dims[i] != 0) continue;
    }
    if (empty) to = dims;
  }
  if (!empty && !to.empty() && m.r.Chance(0.4))
    to[static_cast<size_t>(m.r.Int(0, Rank(to) - 1))] = -1;
  AddShape(m, to);
}

}  // namespace

GE_RANDOM_OP(reshape) = {"Reshape", ReshapeCase, 0, Error::kOfElement, InOrder};

}  // namespace ge::test
