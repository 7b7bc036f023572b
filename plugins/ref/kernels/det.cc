#include <algorithm>

#include "plugins/ref/checks.h"

namespace ref {
namespace {

// Elimination with the greatest pivot of each column, in place.
double DeterminantOf(double* m, int64_t n) {
  double det = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (std::fabs(m[i * n + k]) > std::fabs(m[pivot * n + k])) pivot = i;
    }
    if (pivot != k) {
      std::swap_ranges(m + k * n, m + k * n + n, m + pivot * n);
      det = -det;
    }
    const double p = m[k * n + k];
    det *= p;
    if (p == 0) return det;
    for (int64_t i = k + 1; i < n; ++i) {
      const double share = m[i * n + k] / p;
      for (int64_t j = k + 1; j < n; ++j) m[i * n + j] -= share * m[k * n + j];
      Spend(n - k);
    }
  }
  return det;
}

std::unique_ptr<Prepared> PrepareDet(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 1, why) || !NeedSameDType(n.in(0), n.out(0), why)) return nullptr;
  const TensorType x = n.in(0);
  if (x.rank < 2 || x.dims[x.rank - 1] != x.dims[x.rank - 2]) {
    return why->Say(GE_WHY_SHAPE, "the input is no square matrix"), nullptr;
  }
  if (!NeedOutDims(n, {x.dims, static_cast<size_t>(x.rank - 2)}, why)) return nullptr;
  const int64_t size = x.dims[x.rank - 1];
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(x.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([size](const Call& c) {
          const T* from = c.in(0).as<T>();
          const Tensor y = c.out(0);
          double* m = static_cast<double*>(c.workspace());
          for (int64_t i = 0; i < y.count; ++i, from += size * size) {
            for (int64_t k = 0; k < size * size; ++k) m[k] = Widen(from[k]);
            y.as<T>()[i] = Narrow<T>(DeterminantOf(m, size));
          }
          return static_cast<ge_rc>(GE_OK);
        });
        made->workspace =
            x.count == 0 ? 0 : static_cast<uint64_t>(size) * static_cast<uint64_t>(size) * 8;
      })) {
    NoDType(x, why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(det, "Det", PrepareDet)
