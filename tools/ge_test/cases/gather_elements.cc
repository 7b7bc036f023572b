#include "tools/ge_test/random/indices.h"

namespace ge::test {
namespace {

void GatherElementsCase(CaseMaker& m) { AddElementIndices(m, -100, 100); }

bool PlainGatherElements(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (c.inputs[1].tensor->dims != out->dims) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    Copy(x, Flat(x.dims, IndexedPlace(c, at.at)), out, i);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(gather_elements) = {"GatherElements", GatherElementsCase, 0, Error::kOfElement,
                                 PlainGatherElements};

}  // namespace ge::test
