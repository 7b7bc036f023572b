// Random cases of CumSum and CumProd, and their plain answer: each result from its own list.
#pragma once

#include "tools/ge_test/oracle/plain.h"

namespace ge::test {

inline void CumulationCase(CaseMaker& maker) {
  const Dims dims = maker.Shape(1, 4);
  const auto rank = static_cast<int64_t>(dims.size());
  maker.Add(maker.Numbers(maker.dtype(), dims, IsFloat(maker.dtype()) ? -2 : -9,
                          IsFloat(maker.dtype()) ? 2 : 9));
  const DType type = maker.r.Chance(0.5) ? DType::kInt64 : DType::kInt32;
  const Dims shape = maker.r.Chance(0.7) ? Dims() : Dims{1};
  maker.Add(maker.Ints(type, shape, {maker.Axis(maker.r.Int(0, rank - 1), rank)}));
  if (maker.r.Chance(0.6)) maker.Set("exclusive", maker.r.Int(0, 1));
  if (maker.r.Chance(0.6)) maker.Set("reverse", maker.r.Int(0, 1));
}

template <typename F>
bool PlainCumulation(const RandomCase& sample, HostTensor* out, int start, F step) {
  const HostTensor& x = *sample.inputs[0].tensor;
  if (x.dims != out->dims) return false;
  int64_t axis = ElementAsInt(*sample.inputs[1].tensor, 0);
  if (axis < 0) axis += static_cast<int64_t>(x.dims.size());
  const auto d = static_cast<size_t>(axis);
  const bool reverse = IntOr(sample, "reverse", 0) != 0;
  const int64_t own = IntOr(sample, "exclusive", 0) != 0 ? 0 : 1;
  Index at(x.dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const int64_t here = at.at[d];
    const int64_t lo = reverse ? here + 1 - own : 0, hi = reverse ? x.dims[d] : here + own;
    double real = start;
    auto whole = static_cast<uint64_t>(start);
    for (int64_t k = lo; k < hi; ++k) {
      Dims from = at.at;
      from[d] = k;
      const int64_t place = Flat(x.dims, from);
      if (IsFloat(x.dtype)) {
        real = step(real, ElementAsDouble(x, place));
      } else {
        whole = step(whole, static_cast<uint64_t>(ElementAsInt(x, place)));
      }
    }
    if (IsFloat(x.dtype)) {
      SetElement(out, i, real);
    } else {
      SetIntElement(out, i, static_cast<int64_t>(whole));
    }
  }
  return true;
}

}  // namespace ge::test
