#include <algorithm>

#include "plugins/ref/checks.h"

namespace ref {
namespace {

// Elimination with the greatest pivot of each column of m, which becomes the unit matrix, while the
// unit matrix r becomes m's inverse. Of a singular matrix the division leaves infinities and NaN.
void InvertMatrix(double* m, double* r, int64_t n) {
  std::fill(r, r + n * n, 0.0);
  for (int64_t k = 0; k < n; ++k) r[k * n + k] = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (std::fabs(m[i * n + k]) > std::fabs(m[pivot * n + k])) pivot = i;
    }
    if (pivot != k) {
      std::swap_ranges(m + k * n, m + k * n + n, m + pivot * n);
      std::swap_ranges(r + k * n, r + k * n + n, r + pivot * n);
    }
    const double p = m[k * n + k];
    for (int64_t j = 0; j < n; ++j) {
      m[k * n + j] /= p;
      r[k * n + j] /= p;
    }
    for (int64_t i = 0; i < n; ++i) {
      const double share = m[i * n + k];
      if (i == k || share == 0) continue;
      Spend(2 * n);
      for (int64_t j = 0; j < n; ++j) {
        m[i * n + j] -= share * m[k * n + j];
        r[i * n + j] -= share * r[k * n + j];
      }
    }
  }
}

std::unique_ptr<Prepared> PrepareInverse(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 1, why) || !NeedSameDType(n.in(0), n.out(0), why) ||
      !NeedSameDims(n.in(0), n.out(0), why)) {
    return nullptr;
  }
  const TensorType x = n.in(0);
  if (x.rank < 2 || x.dims[x.rank - 1] != x.dims[x.rank - 2]) {
    return why->Say(GE_WHY_SHAPE, "the input is no square matrix"), nullptr;
  }
  const int64_t size = x.dims[x.rank - 1];
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(x.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([size](const Call& c) {
          const Tensor from = c.in(0);
          T* to = c.out(0).as<T>();
          if (from.count == 0) return static_cast<ge_rc>(GE_OK);  // there is no workspace either
          double* m = static_cast<double*>(c.workspace());
          double* r = m + size * size;
          for (int64_t at = 0; at < from.count; at += size * size) {
            for (int64_t k = 0; k < size * size; ++k) m[k] = Widen(Load(from.as<T>(), at + k));
            InvertMatrix(m, r, size);
            for (int64_t k = 0; k < size * size; ++k) to[at + k] = Narrow<T>(r[k]);
          }
          return static_cast<ge_rc>(GE_OK);
        });
        made->const_align = 1;
        made->workspace =
            x.count == 0 ? 0 : 2 * static_cast<uint64_t>(size) * static_cast<uint64_t>(size) * 8;
      })) {
    NoDType(x, why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(microsoft_inverse, "com.microsoft.Inverse", PrepareInverse)
