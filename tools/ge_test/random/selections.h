// Shared by random cases of operators along one axis, and plain answers of some.
#pragma once

#include "tools/ge_test/oracle/plain.h"

namespace ge::test {

// The attribute, or `absent`, counted from the front.
inline size_t AxisOf(const RandomCase& sample, int64_t absent) {
  const auto rank = static_cast<int64_t>(sample.inputs[0].tensor->dims.size());
  const int64_t axis = IntOr(sample, "axis", absent);
  return static_cast<size_t>(axis < 0 ? axis + std::max<int64_t>(rank, 1) : axis);
}

// Adds integers of a small range, so that many are equal.
inline void AddWithTies(CaseMaker& maker, const Dims& dims) {
  auto t = maker.Numbers(maker.dtype(), dims, -4, 4);
  if (IsFloat(maker.dtype()) && maker.r.Chance(0.5)) {
    for (int64_t i = 0, n = t->count(); i < n; ++i) {
      SetElement(t.get(), i, std::floor(ElementAsDouble(*t, i)));
    }
  }
  maker.Add(std::move(t));
}

inline void ArgCase(CaseMaker& maker) {
  Dims dims = maker.Shape(1, 4);
  const auto rank = static_cast<int64_t>(dims.size());
  const bool named = maker.r.Chance(0.8);
  const int64_t axis = named ? maker.r.Int(0, rank - 1) : 0;
  int64_t& size = dims[static_cast<size_t>(axis)];
  size = std::max<int64_t>(size, 1);
  AddWithTies(maker, dims);
  if (named) maker.Set("axis", maker.Axis(axis, rank));
  if (maker.r.Chance(0.6)) maker.Set("keepdims", maker.r.Int(0, 1));
  if (maker.r.Chance(0.6)) maker.Set("select_last_index", maker.r.Int(0, 1));
}

inline bool PlainArg(const RandomCase& sample, bool greatest, HostTensor* out) {
  const HostTensor& x = *sample.inputs[0].tensor;
  const size_t axis = AxisOf(sample, 0);
  Dims kept = x.dims, shape = x.dims;
  kept[axis] = 1;
  if (IntOr(sample, "keepdims", 1) != 0) {
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
      if (k == 0 || better || (v == value && IntOr(sample, "select_last_index", 0) != 0)) {
        best = k;
        value = v;
      }
    }
    SetIntElement(out, i, best);
  }
  return true;
}

inline void AlongCase(CaseMaker& maker) {
  const Dims dims = maker.Shape(1, 4);
  const auto rank = static_cast<int64_t>(dims.size());
  AddWithTies(maker, dims);
  if (maker.r.Chance(0.8)) maker.Set("axis", maker.Axis(maker.r.Int(0, rank - 1), rank));
}

// y = f(elements along the axis, place of this one) in doubles.
template <typename F>
bool PlainAlong(const RandomCase& sample, int64_t absent, HostTensor* out, F call) {
  const HostTensor& x = *sample.inputs[0].tensor;
  if (x.dims != out->dims) return false;
  const size_t axis = AxisOf(sample, absent);
  Index at(x.dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    std::vector<double> row;
    for (int64_t k = 0; k < x.dims[axis]; ++k) {
      Dims from = at.at;
      from[axis] = k;
      row.push_back(ElementAsDouble(x, Flat(x.dims, from)));
    }
    SetElement(out, i, call(row, static_cast<size_t>(at.at[axis])));
  }
  return true;
}

}  // namespace ge::test
