// Shared by random cases of reductions: the case, and an independent answer from the list of
// elements of each result.
#pragma once

#include "tools/ge_test/oracle/plain.h"

namespace ge::test {

// No axis repeats; no axes mean all, or none with noop_with_empty_axes.
inline void ReductionCase(CaseMaker& maker, double lo, double hi, bool zeros) {
  const Dims dims = maker.Shape(0, 4, zeros);
  const auto rank = static_cast<int64_t>(dims.size());
  maker.Add(maker.Numbers(maker.dtype(), dims, lo, hi));
  if (maker.r.Chance(0.8)) {
    std::vector<int64_t> axes;
    for (int64_t axis = 0; axis < rank; ++axis) {
      if (maker.r.Chance(0.5)) axes.push_back(maker.Axis(axis, rank));
    }
    if (maker.r.Chance(0.5)) std::reverse(axes.begin(), axes.end());
    maker.AddConstant(maker.Ints(DType::kInt64, {static_cast<int64_t>(axes.size())}, axes));
  }
  for (const int64_t d : dims)
    maker.c.terms *= maker.large ? std::max<int64_t>(1, d) : 1;  // at most
  if (maker.r.Chance(0.6)) maker.Set("keepdims", maker.r.Int(0, 1));
  if (maker.r.Chance(0.4)) maker.Set("noop_with_empty_axes", maker.r.Int(0, 1));
}

// Whether each axis is reduced.
inline std::vector<bool> ReducedAxes(const RandomCase& sample) {
  const size_t rank = sample.inputs[0].tensor->dims.size();
  const HostTensor* given = Maybe(sample, 1);
  const Dims axes = given ? Values(*given) : Dims();
  const bool all = axes.empty() && IntOr(sample, "noop_with_empty_axes", 0) == 0;
  std::vector<bool> reduced(rank, all);
  for (int64_t a : axes)
    reduced[static_cast<size_t>(a < 0 ? a + static_cast<int64_t>(rank) : a)] = true;
  return reduced;
}

// real(elements as doubles) for floats, whole(elements as int64) for the others.
template <typename RealFn, typename WholeFn>
bool PlainReduction(const RandomCase& sample, HostTensor* out, RealFn real, WholeFn whole) {
  const HostTensor& x = *sample.inputs[0].tensor;
  const std::vector<bool> reduced = ReducedAxes(sample);
  const bool keep = IntOr(sample, "keepdims", 1) != 0;
  Dims kept, shape;
  for (size_t d = 0; d < x.dims.size(); ++d) {
    kept.push_back(reduced[d] ? 1 : x.dims[d]);
    if (!reduced[d] || keep) shape.push_back(kept.back());
  }
  if (shape != out->dims) return false;
  std::vector<std::vector<int64_t>> parts(static_cast<size_t>(out->count()));
  Index at(x.dims);
  for (int64_t i = 0, n = x.count(); i < n; ++i, at.Next()) {
    Dims to = at.at;
    for (size_t d = 0; d < to.size(); ++d) to[d] = reduced[d] ? 0 : to[d];
    parts[static_cast<size_t>(Flat(kept, to))].push_back(i);
  }
  for (size_t k = 0; k < parts.size(); ++k) {
    const auto to = static_cast<int64_t>(k);
    if (IsFloat(x.dtype)) {
      std::vector<double> v;
      for (int64_t i : parts[k]) v.push_back(ElementAsDouble(x, i));
      SetElement(out, to, real(v));
    } else {
      std::vector<int64_t> v;
      for (int64_t i : parts[k]) v.push_back(ElementAsInt(x, i));
      SetIntElement(out, to, whole(v));
    }
  }
  return true;
}

// Sums f(element) in doubles, or in integers that wrap.
template <typename T, typename F>
T SumOf(const std::vector<T>& values, F call) {
  if constexpr (std::is_same_v<T, double>) {
    double sum = 0;
    for (double e : values) sum += call(e);
    return sum;
  } else {
    uint64_t sum = 0;
    for (int64_t e : values) sum += static_cast<uint64_t>(call(e));
    return static_cast<int64_t>(sum);
  }
}

// An integer result computed in doubles and truncated. Where the kernel has an infinity, it is not
// finite either.
inline int64_t CutToInt(double value) {
  return std::isfinite(value) ? static_cast<int64_t>(value) : INT64_MIN;
}

}  // namespace ge::test
