#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void TransposeCase(CaseMaker& m) {
  const Dims dims = m.Shape(0, 5);
  m.Add(Anything(m, dims));
  std::vector<int64_t> perm(dims.size());
  std::iota(perm.begin(), perm.end(), 0);
  Shuffle(m, &perm);
  if (m.r.Chance(0.8)) m.Set("perm", perm);
}

bool PlainTranspose(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const size_t rank = x.dims.size();
  Dims reversed(rank);
  for (size_t d = 0; d < rank; ++d) reversed[d] = static_cast<int64_t>(rank - 1 - d);
  const Dims perm = IntsOr(c, "perm", reversed);
  for (size_t d = 0; d < rank; ++d) {
    if (out->dims[d] != x.dims[static_cast<size_t>(perm[d])]) return false;
  }
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    Dims from(rank);
    for (size_t d = 0; d < rank; ++d) from[static_cast<size_t>(perm[d])] = at.at[d];
    Copy(x, Flat(x.dims, from), out, i);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(transpose) = {"Transpose", TransposeCase, 0, Error::kOfElement, PlainTranspose};

}  // namespace ge::test
