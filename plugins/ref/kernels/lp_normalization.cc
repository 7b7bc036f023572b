#include "plugins/ref/kernels/along.h"

namespace ref {
namespace {

// In double; a norm of 0 gives 0.
struct LpNormalizationRow {
  template <class T>
  static void Row(const T* x, T* y, int64_t n, int64_t step, int64_t p) {
    double norm = 0;
    for (int64_t k = 0; k < n; ++k) {
      const double v = Widen(x[k * step]);
      norm += p == 1 ? std::fabs(v) : v * v;
    }
    if (p == 2) norm = std::sqrt(norm);
    for (int64_t k = 0; k < n; ++k) {
      y[k * step] = Narrow<T>(norm == 0 ? 0.0 : Widen(x[k * step]) / norm);
    }
  }
};

std::unique_ptr<Prepared> PrepareLpNormalization(const NodeView& n, Why* why) {
  const int64_t p = n.Int("p");
  if (p != 1 && p != 2) {
    return why->Say(GE_WHY_ATTRIBUTE, "p is %lld, 1 or 2 is wanted", static_cast<long long>(p)),
           nullptr;
  }
  return PrepareRows<LpNormalizationRow>(n, p, why);
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(lp_normalization, "LpNormalization", PrepareLpNormalization)
