#include "tools/ge_test/random/indices.h"

namespace ge::test {
namespace {

void GatherNDCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 4, false);
  const auto rank = static_cast<size_t>(Rank(dims));
  const auto batch = static_cast<size_t>(m.r.Chance(0.4) ? m.r.Int(0, Rank(dims) - 1) : 0);
  const auto length = static_cast<size_t>(m.r.Int(1, static_cast<int64_t>(rank - batch)));
  Dims lead(dims.begin(), dims.begin() + static_cast<ptrdiff_t>(batch));
  for (int64_t d : m.Shape(0, 2)) lead.push_back(d);
  m.Add(Anything(m, dims));
  m.Add(IndexTuples(m, dims, lead, batch, length));
  if (batch > 0 || m.r.Chance(0.3)) m.Set("batch_dims", static_cast<int64_t>(batch));
}

bool PlainGatherND(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &index = *c.inputs[1].tensor;
  const auto first = static_cast<size_t>(IntOr(c, "batch_dims", 0));
  Dims wanted(index.dims.begin(), index.dims.end() - 1);
  const auto tail = static_cast<ptrdiff_t>(first) + index.dims.back();
  wanted.insert(wanted.end(), x.dims.begin() + tail, x.dims.end());
  if (wanted != out->dims) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    Copy(x, Flat(x.dims, TuplePlace(c, at.at, first)), out, i);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(gather_nd) = {"GatherND", GatherNDCase, 0, Error::kOfElement, PlainGatherND};

}  // namespace ge::test
