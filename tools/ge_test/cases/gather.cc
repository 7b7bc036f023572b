#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void GatherCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 3, false);
  const int64_t axis = m.r.Int(0, Rank(dims) - 1), size = dims[static_cast<size_t>(axis)];
  m.Add(Anything(m, dims));
  const DType type = m.r.Chance(0.5) ? DType::kInt64 : DType::kInt32;
  m.Add(m.Numbers(type, m.Shape(0, 3), -static_cast<double>(size), static_cast<double>(size - 1)));
  if (m.r.Chance(0.8)) m.Set("axis", m.Axis(axis, Rank(dims)));
  if (m.c.attrs.empty()) {  // the default axis is 0
    m.c.inputs.pop_back();
    const auto first = static_cast<double>(dims[0]);
    m.Add(m.Numbers(type, m.Shape(0, 3), -first, first - 1));
  }
}

bool PlainGather(const RandomCase& c, HostTensor* out) {
  const HostTensor &x = *c.inputs[0].tensor, &index = *c.inputs[1].tensor;
  int64_t axis = IntOr(c, "axis", 0);
  if (axis < 0) axis += static_cast<int64_t>(x.dims.size());
  const auto lead = static_cast<size_t>(axis);
  Dims wanted(x.dims.begin(), x.dims.begin() + axis);
  wanted.insert(wanted.end(), index.dims.begin(), index.dims.end());
  wanted.insert(wanted.end(), x.dims.begin() + axis + 1, x.dims.end());
  if (wanted != out->dims) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const auto middle = at.at.begin() + axis;
    const auto tail = middle + static_cast<ptrdiff_t>(index.dims.size());
    int64_t k = ElementAsInt(index, Flat(index.dims, Dims(middle, tail)));
    if (k < 0) k += x.dims[lead];
    Dims from(at.at.begin(), middle);
    from.push_back(k);
    from.insert(from.end(), tail, at.at.end());
    Copy(x, Flat(x.dims, from), out, i);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(gather) = {"Gather", GatherCase, 0, Error::kOfElement, PlainGather};

}  // namespace ge::test
