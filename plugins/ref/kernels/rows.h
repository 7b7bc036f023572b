// Rows of floats of any width, widened to double for sums and rounded once on the way out, for the
// kernels of sequence models. Offsets are in elements. Pure; any thread.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "plugins/ref/checks.h"

namespace ref {

// The caller has checked IsFloatDType(t.dtype) and the row's bounds.
inline void LoadRow(const Tensor& tensor, int64_t at, int64_t n, double* row) {
  VisitFloat(tensor.dtype, [&](auto tag) {
    const auto* from = tensor.as<typename decltype(tag)::type>();
    for (int64_t i = 0; i < n; ++i) row[i] = Widen(Load(from, at + i));
  });
}

inline void PutRow(const Tensor& tensor, int64_t at, int64_t n, const double* row) {
  VisitFloat(tensor.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = tensor.as<T>() + at;
    for (int64_t i = 0; i < n; ++i) to[i] = Narrow<T>(row[i]);
  });
}

inline double DotOf(const double* left, const double* right, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += left[i] * right[i];
  return sum;
}

inline bool HasDims(const TensorType& type, std::initializer_list<int64_t> dims) {
  return SameDims(type.shape(), {dims.begin(), dims.size()});
}

// Every input but those in `other` (bit i: input i), and every output, has the dtype of input 0,
// a float.
inline bool NeedOneFloatType(const NodeView& n, uint32_t other, Why* why) {
  if (!IsFloatDType(n.in(0).dtype)) return NoDType(n.in(0), why);
  for (uint32_t i = 1; i < n.n_in(); ++i) {
    if ((other >> i & 1) != 0 || !n.has_in(i)) continue;
    if (!NeedSameDType(n.in(0), n.in(i), why)) return false;
  }
  for (uint32_t i = 0; i < n.n_out(); ++i) {
    if (n.has_out(i) && !NeedSameDType(n.in(0), n.out(i), why)) return false;
  }
  return true;
}

inline bool NoRole(Why* why) {
  return why->Say(GE_WHY_SHAPE, "an input or output has not the shape of its role");
}

}  // namespace ref
