#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void OneHotCase(CaseMaker& m) {
  const Dims dims = m.Shape(0, 3);
  const int64_t depth = m.r.Chance(0.05) ? 0 : m.r.Int(1, 5);
  auto index = m.Numbers(m.dtype(), dims, -6, 6);
  for (int64_t i = 0, n = index->count(); IsFloat(m.dtype()) && i < n; ++i) {
    SetElement(index.get(), i, std::floor(ElementAsDouble(*index, i)));
  }
  m.Add(std::move(index));
  const DType how = m.r.Pick(std::vector<DType>{DType::kInt64, DType::kInt32, DType::kUint8});
  m.AddConstant(m.Ints(how, m.r.Chance(0.5) ? Dims() : Dims{1}, {depth}));
  const DType type =
      m.r.Pick(std::vector<DType>{DType::kFloat, DType::kInt64, DType::kBool, DType::kInt8});
  m.Add(m.Numbers(type, {2}, -9, 9));
  if (m.r.Chance(0.7)) m.Set("axis", m.Axis(m.r.Int(0, Rank(dims)), Rank(dims) + 1));
}

bool PlainOneHot(const RandomCase& c, HostTensor* out) {
  const HostTensor &index = *c.inputs[0].tensor, &values = *c.inputs[2].tensor;
  const int64_t depth = ElementAsInt(*c.inputs[1].tensor, 0);
  int64_t axis = IntOr(c, "axis", -1);
  if (axis < 0) axis += Rank(index.dims) + 1;
  Dims wanted = index.dims;
  wanted.insert(wanted.begin() + axis, depth);
  if (wanted != out->dims) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    Dims from = at.at;
    from.erase(from.begin() + axis);
    const double k = ElementAsDouble(index, Flat(index.dims, from));
    const auto here = static_cast<double>(at.at[static_cast<size_t>(axis)]);
    Copy(values, k == here || k + static_cast<double>(depth) == here ? 1 : 0, out, i);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(one_hot) = {"OneHot", OneHotCase, 0, Error::kOfElement, PlainOneHot};

}  // namespace ge::test
