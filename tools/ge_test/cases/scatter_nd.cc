#include "tools/ge_test/random/indices.h"

namespace ge::test {
namespace {

void ScatterNDCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 4, false), lead = m.Shape(0, 2);
  const auto length = static_cast<size_t>(m.r.Int(1, Rank(dims)));
  const double most = IsFloat(m.dtype()) ? 2 : 5;
  m.Add(m.Numbers(m.dtype(), dims, -most, most));
  m.Add(IndexTuples(m, dims, lead, 0, length));
  Dims shape = lead;
  shape.insert(shape.end(), dims.begin() + static_cast<ptrdiff_t>(length), dims.end());
  m.Add(m.Numbers(m.dtype(), shape, -most, most));
  SetReduction(m);
  m.c.typed = m.dtype() != DType::kBool;  // sums of truth values are no sums of numbers
}

bool PlainScatterND(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &updates = *c.inputs[2].tensor;
  if (x.dims != out->dims) return false;
  for (int64_t i = 0, n = x.count(); i < n; ++i) Copy(x, i, out, i);
  Index at(updates.dims);
  for (int64_t i = 0, n = updates.count(); i < n; ++i, at.Next()) {
    PlainPut(c, updates, i, out, Flat(x.dims, TuplePlace(c, at.at, 0)));
  }
  return true;
}

}  // namespace

// Updates of one element are added one after the other, each sum rounded to the type: two of them.
GE_RANDOM_OP(scatter_nd) = {"ScatterND",    ScatterNDCase, 8e-6, Error::kOfTerms,
                            PlainScatterND, nullptr,       2};

}  // namespace ge::test
