#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void ConcatCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 4);
  const int64_t axis = m.r.Int(0, Rank(dims) - 1), n = m.r.Int(1, 4);
  const int64_t most = m.large ? std::max<int64_t>(4, 2 * dims[static_cast<size_t>(axis)]) : 4;
  for (int64_t i = 0; i < n; ++i) {
    Dims part = dims;
    part[static_cast<size_t>(axis)] = m.r.Chance(0.1) ? 0 : m.Size(4, most);
    m.Add(Anything(m, part));
  }
  m.Set("axis", m.Axis(axis, Rank(dims)));
}

bool PlainConcat(const RandomCase& c, HostTensor* out) {
  int64_t axis = IntOr(c, "axis", 0);
  if (axis < 0) axis += static_cast<int64_t>(out->dims.size());
  int64_t begin = 0;
  for (const auto& in : c.inputs) {
    const HostTensor& x = *in.tensor;
    Index at(x.dims);
    for (int64_t i = 0, n = x.count(); i < n; ++i, at.Next()) {
      Dims to = at.at;
      to[static_cast<size_t>(axis)] += begin;
      Copy(x, i, out, Flat(out->dims, to));
    }
    begin += x.dims[static_cast<size_t>(axis)];
  }
  return begin == out->dims[static_cast<size_t>(axis)];
}

}  // namespace

GE_RANDOM_OP(concat) = {"Concat", ConcatCase, 0, Error::kOfElement, PlainConcat};

}  // namespace ge::test
