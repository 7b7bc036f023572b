// Shared by random cases of operators that select or write elements by index.
#pragma once

#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {

// An index of [-size, size), in i64 or i32.
inline std::shared_ptr<HostTensor> IndexTensor(CaseMaker& maker, DType type, const Dims& dims,
                                               int64_t size) {
  return maker.Numbers(type, dims, -static_cast<double>(size), static_cast<double>(size - 1));
}

inline DType IndexDType(CaseMaker& maker) {
  return maker.r.Chance(0.5) ? DType::kInt64 : DType::kInt32;
}

// Data, and indices of its rank; answers their shape.
inline Dims AddElementIndices(CaseMaker& maker, double lo, double hi) {
  const Dims dims = maker.Shape(1, 4, false);
  const bool named = maker.r.Chance(0.8);
  const int64_t axis = named ? maker.r.Int(0, Rank(dims) - 1) : 0;
  maker.Add(maker.Numbers(maker.dtype(), dims, lo, hi));
  Dims shape = dims;
  for (int64_t& d : shape) d = maker.r.Chance(0.05) ? 0 : maker.r.Int(1, d);
  const int64_t size = dims[static_cast<size_t>(axis)];
  shape[static_cast<size_t>(axis)] = maker.r.Int(0, 2 * size);
  maker.Add(IndexTensor(maker, IndexDType(maker), shape, size));
  if (named) maker.Set("axis", maker.Axis(axis, Rank(dims)));
  return shape;
}

// Where the index at `at` points to in the data.
inline Dims IndexedPlace(const RandomCase& sample, Dims at) {
  const HostTensor &x = *sample.inputs[0].tensor, &index = *sample.inputs[1].tensor;
  int64_t axis = IntOr(sample, "axis", 0);
  if (axis < 0) axis += Rank(x.dims);
  const auto d = static_cast<size_t>(axis);
  int64_t k = ElementAsInt(index, Flat(index.dims, at));
  at[d] = k < 0 ? k + x.dims[d] : k;
  return at;
}

// Index tuples for the dims [first, first + length), one for each place of `lead`.
inline std::shared_ptr<HostTensor> IndexTuples(CaseMaker& maker, const Dims& data, const Dims& lead,
                                               size_t first, size_t length) {
  Dims shape = lead;
  shape.push_back(static_cast<int64_t>(length));
  auto t = maker.Ints(DType::kInt64, shape, {});
  for (int64_t i = 0, n = t->count(); i < n; ++i) {
    const int64_t size = data[first + static_cast<size_t>(i) % length];
    SetIntElement(t.get(), i, maker.r.Int(-size, size - 1));
  }
  return t;
}

// Position in the data for element `at` of the slices; its first `lead` dims name the tuple.
inline Dims TuplePlace(const RandomCase& sample, const Dims& at, size_t first) {
  const HostTensor &x = *sample.inputs[0].tensor, &index = *sample.inputs[1].tensor;
  const size_t lead = index.dims.size() - 1;
  Dims from(at.begin(), at.begin() + static_cast<ptrdiff_t>(first));
  Dims tuple(at.begin(), at.begin() + static_cast<ptrdiff_t>(lead));
  tuple.push_back(0);
  for (; tuple.back() < index.dims.back(); ++tuple.back()) {
    const int64_t k = ElementAsInt(index, Flat(index.dims, tuple));
    from.push_back(k < 0 ? k + x.dims[from.size()] : k);
  }
  from.insert(from.end(), at.begin() + static_cast<ptrdiff_t>(lead), at.end());
  return from;
}

// Combines out[to] and the update by `reduction`.
inline void PlainPut(const RandomCase& sample, const HostTensor& update, int64_t from,
                     HostTensor* out, int64_t to) {
  const Attr* a = FindAttr(sample, "reduction");
  const std::string how = a != nullptr ? std::get<std::string>(a->value) : "none";
  const auto put = [&](auto old, auto given) {
    return how == "add"   ? old + given
           : how == "mul" ? old * given
           : how == "max" ? std::max(old, given)
           : how == "min" ? std::min(old, given)
                          : given;
  };
  if (IsFloat(out->dtype)) {
    SetElement(out, to, put(ElementAsDouble(*out, to), ElementAsDouble(update, from)));
  } else {
    const int64_t v = put(ElementAsInt(*out, to), ElementAsInt(update, from));
    SetIntElement(out, to, out->dtype == DType::kBool ? v != 0 : v);
  }
}

inline void SetReduction(CaseMaker& maker) {
  static const std::vector<std::string> kHow = {"none", "add", "mul", "max", "min"};
  if (maker.r.Chance(0.8)) maker.Set("reduction", maker.r.Pick(kHow));
}

}  // namespace ge::test
