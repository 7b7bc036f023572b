#include "tools/ge_test/random/indices.h"

namespace ge::test {
namespace {

void ScatterElementsCase(CaseMaker& m) {
  const double most = IsFloat(m.dtype()) ? 2 : 5;
  const Dims shape = AddElementIndices(m, -most, most);
  m.Add(m.Numbers(m.dtype(), shape, -most, most));
  SetReduction(m);
  m.c.typed = m.dtype() != DType::kBool;  // sums of truth values are no sums of numbers
}

bool PlainScatterElements(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &updates = *c.inputs[2].tensor;
  if (x.dims != out->dims) return false;
  for (int64_t i = 0, n = x.count(); i < n; ++i) Copy(x, i, out, i);
  Index at(updates.dims);
  for (int64_t i = 0, n = updates.count(); i < n; ++i, at.Next()) {
    PlainPut(c, updates, i, out, Flat(x.dims, IndexedPlace(c, at.at)));
  }
  return true;
}

}  // namespace

// Updates of one element are added one after the other, each sum rounded to the type: two of them.
GE_RANDOM_OP(scatter_elements) = {"ScatterElements",
                                  ScatterElementsCase,
                                  8e-6,
                                  Error::kOfTerms,
                                  PlainScatterElements,
                                  nullptr,
                                  2};

}  // namespace ge::test
