// What random cases of operators that work along one axis share, and plain answers of some.
#pragma once

#include "tools/ge_test/oracle/plain.h"

namespace ge::test {

// The attribute, or `absent`, counted from the front.
inline size_t AxisOf(const RandomCase& c, int64_t absent) {
  const auto rank = static_cast<int64_t>(c.inputs[0].tensor->dims.size());
  const int64_t axis = IntOr(c, "axis", absent);
  return static_cast<size_t>(axis < 0 ? axis + std::max<int64_t>(rank, 1) : axis);
}

// Integers of a small range, so that many are equal.
inline void AddWithTies(CaseMaker& m, const Dims& dims) {
  auto t = m.Numbers(m.dtype(), dims, -4, 4);
  if (IsFloat(m.dtype()) && m.r.Chance(0.5)) {
    for (int64_t i = 0, n = t->count(); i < n; ++i) {
      SetElement(t.get(), i, std::floor(ElementAsDouble(*t, i)));
    }
  }
  m.Add(std::move(t));
}

inline void ArgCase(CaseMaker& m) {
  Dims dims = m.Shape(1, 4);
  const auto rank = static_cast<int64_t>(dims.size());
  const bool named = m.r.Chance(0.8);
  const int64_t axis = named ? m.r.Int(0, rank - 1) : 0;
  int64_t& size = dims[static_cast<size_t>(axis)];
  size = std::max<int64_t>(size, 1);
  AddWithTies(m, dims);
  if (named) m.Set("axis", m.Axis(axis, rank));
  if (m.r.Chance(0.6)) m.Set("keepdims", m.r.Int(0, 1));
  if (m.r.Chance(0.6)) m.Set("select_last_index", m.r.Int(0, 1));
}

inline bool PlainArg(const RandomCase& c, bool greatest, HostTensor* out) {
  const HostTensor& x = *c.inputs[0].tensor;
  const size_t axis = AxisOf(c, 0);
  Dims kept = x.dims, shape = x.dims;
  kept[axis] = 1;
  if (IntOr(c, "keepdims", 1) != 0) {
    shape = kept;
  } else {
    shape.erase(shape.begin() + static_cast<ptrdiff_t>(axis));
  }
  if (shape != out->dims) return false;
  Index at(kept);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    int64_t best = 0;
    double value = 0;
    for (int64_t k = 0; k < x.dims[axis]; ++k) {
      Dims from = at.at;
      from[axis] = k;
      const double v = ElementAsDouble(x, Flat(x.dims, from));
      const bool better = greatest ? v > value : v < value;
      if (k == 0 || better || (v == value && IntOr(c, "select_last_index", 0) != 0)) {
        best = k;
        value = v;
      }
    }
    SetIntElement(out, i, best);
  }
  return true;
}

inline void AlongCase(CaseMaker& m) {
  const Dims dims = m.Shape(1, 4);
  const auto rank = static_cast<int64_t>(dims.size());
  AddWithTies(m, dims);
  if (m.r.Chance(0.8)) m.Set("axis", m.Axis(m.r.Int(0, rank - 1), rank));
}

// y = f(elements along the axis, place of this one) in doubles.
template <typename F>
bool PlainAlong(const RandomCase& c, int64_t absent, HostTensor* out, F f) {
  const HostTensor& x = *c.inputs[0].tensor;
  if (x.dims != out->dims) return false;
  const size_t axis = AxisOf(c, absent);
  Index at(x.dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    std::vector<double> row;
    for (int64_t k = 0; k < x.dims[axis]; ++k) {
      Dims from = at.at;
      from[axis] = k;
      row.push_back(ElementAsDouble(x, Flat(x.dims, from)));
    }
    SetElement(out, i, f(row, static_cast<size_t>(at.at[axis])));
  }
  return true;
}

}  // namespace ge::test
