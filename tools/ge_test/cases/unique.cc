#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

// Few values, so that most occur several times; output 0 alone is checked.
void UniqueCase(CaseMaker& m) {
  auto x = m.Numbers(m.dtype(), m.Shape(1, 3), 0, 4);
  for (int64_t i = 0, n = x->count(); i < n; ++i) SetElement(x.get(), i, m.r.Int(0, 4));
  m.Add(x);
  if (m.r.Chance(0.5)) m.Set("sorted", m.r.Int(0, 1));
  const auto rank = static_cast<int64_t>(m.c.inputs[0].tensor->dims.size());
  if (m.r.Chance(0.4)) m.Set("axis", m.Axis(m.r.Int(0, rank - 1), rank));
  m.c.outputs = static_cast<int>(m.r.Int(1, 4));
}

// The slices of an axis that differ from all before them, in order or as they come.
bool PlainSlices(const RandomCase& c, int64_t axis, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const auto rank = static_cast<int64_t>(x.dims.size()), a = (axis + rank) % rank;
  int64_t inner = 1, outer = 1;
  for (int64_t d = 0; d < rank; ++d) (d < a ? outer : inner) *= x.dims[static_cast<size_t>(d)];
  const int64_t size = x.dims[static_cast<size_t>(a)], each = size > 0 ? inner / size : 0;
  std::vector<std::vector<double>> slices;
  for (int64_t k = 0; k < size; ++k) {
    std::vector<double> slice;
    for (int64_t i = 0; i < outer * each; ++i) {
      slice.push_back(ElementAsDouble(x, (i / each * size + k) * each + i % each));
    }
    if (std::find(slices.begin(), slices.end(), slice) == slices.end()) slices.push_back(slice);
  }
  if (IntOr(c, "sorted", 1) != 0) std::sort(slices.begin(), slices.end());
  Dims wanted = x.dims;
  wanted[static_cast<size_t>(a)] = static_cast<int64_t>(slices.size());
  if (out->dims != wanted) return false;
  for (size_t k = 0; k < slices.size(); ++k) {
    for (int64_t i = 0; i < outer * each; ++i) {
      const int64_t row = i / each * wanted[static_cast<size_t>(a)] + static_cast<int64_t>(k);
      SetElement(out, row * each + i % each, slices[k][static_cast<size_t>(i)]);
    }
  }
  return true;
}

bool PlainUnique(const RandomCase& c, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (FindAttr(c, "axis") != nullptr) return PlainSlices(c, IntOr(c, "axis", 0), out);
  std::vector<double> values;
  for (int64_t i = 0, n = x.count(); i < n; ++i) {
    const double v = ElementAsDouble(x, i);
    if (std::find(values.begin(), values.end(), v) == values.end()) values.push_back(v);
  }
  if (IntOr(c, "sorted", 1) != 0) std::sort(values.begin(), values.end());
  if (out->dims != Dims{static_cast<int64_t>(values.size())}) return false;
  for (size_t i = 0; i < values.size(); ++i) {
    SetElement(out, static_cast<int64_t>(i), values[i]);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(unique) = {"Unique", UniqueCase, 0, Error::kOfElement, PlainUnique};

}  // namespace ge::test
