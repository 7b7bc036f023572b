#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void SplitCase(CaseMaker& m) {
  Dims dims = m.Shape(1, 4);
  const int64_t axis = m.r.Int(0, Rank(dims) - 1), parts = m.r.Int(1, 4);
  int64_t& size = dims[static_cast<size_t>(axis)];
  const int64_t most = m.large ? size / parts + 1 : 3;
  m.c.outputs = static_cast<int>(parts);
  std::vector<int64_t> sizes;
  if (m.r.Chance(0.5)) {
    size = 0;
    for (int64_t i = 0; i < parts; ++i) size += sizes.emplace_back(m.r.Int(0, most));
  } else {
    size = m.r.Int(parts, m.large ? size + parts : 2 * parts);
    // Equal parts, the last one may be smaller, but none may be empty.
    const int64_t whole = (size + parts - 1) / parts;
    if (whole * (parts - 1) >= size) size = parts;
    m.Set("num_outputs", parts);
  }
  m.Add(Anything(m, dims));
  if (!sizes.empty()) AddShape(m, sizes);
  m.Set("axis", m.Axis(axis, Rank(dims)));
}

bool PlainPart(const RandomCase& c, size_t output, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const int64_t rank = Rank(x.dims), given = IntOr(c, "axis", 0);
  const auto axis = static_cast<size_t>(given < 0 ? given + rank : given);
  const HostTensor* sizes = Maybe(c, 1);
  const int64_t whole = (x.dims[axis] + c.outputs - 1) / c.outputs;
  int64_t first = 0, size = 0;
  for (size_t o = 0; o <= output; ++o) {
    first += size;
    size = sizes != nullptr ? ElementAsInt(*sizes, static_cast<int64_t>(o))
                            : std::min(whole, x.dims[axis] - first);
  }
  Dims wanted = x.dims;
  wanted[axis] = size;
  if (out->dims != wanted) return false;
  Index at(wanted);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    Dims from = at.at;
    from[axis] += first;
    Copy(x, Flat(x.dims, from), out, i);
  }
  return true;
}
bool PlainFirstPart(const RandomCase& c, HostTensor* out) { return PlainPart(c, 0, out); }

}  // namespace

GE_RANDOM_OP(split) = {"Split", SplitCase, 0, Error::kOfElement, PlainFirstPart, PlainPart};

}  // namespace ge::test
