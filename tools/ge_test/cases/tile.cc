#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void TileCase(CaseMaker& m) {
  const Dims dims = m.Shape(0, 4);
  m.Add(Anything(m, dims));
  Dims repeats;
  for (size_t d = 0; d < dims.size(); ++d) {
    repeats.push_back(m.r.Chance(0.05) ? 0 : m.r.Chance(0.5) ? 1 : m.r.Int(1, 4));
  }
  AddShape(m, repeats);
}

bool PlainTile(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const Dims repeats = Values(*c.inputs[1].tensor);
  for (size_t d = 0; d < x.dims.size(); ++d) {
    if (out->dims[d] != x.dims[d] * repeats[d]) return false;
  }
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    Dims from = at.at;
    for (size_t d = 0; d < from.size(); ++d) from[d] %= x.dims[d];
    Copy(x, Flat(x.dims, from), out, i);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(tile) = {"Tile", TileCase, 0, Error::kOfElement, PlainTile};

}  // namespace ge::test
