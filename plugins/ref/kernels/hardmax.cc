#include "plugins/ref/kernels/along.h"

namespace ref {
namespace {

// The first of the greatest; NaN counts as the greatest.
struct HardmaxRow {
  template <class T>
  static void Row(const T* x, T* y, int64_t n, int64_t step, int64_t) {
    int64_t best = 0;
    auto most = Widen(x[0]);
    for (int64_t k = 1; k < n; ++k) {
      const auto v = Widen(x[k * step]);
      if (v > most || (v != v && most == most)) {
        most = v;
        best = k;
      }
    }
    for (int64_t k = 0; k < n; ++k) y[k * step] = Narrow<T>(k == best ? 1.0 : 0.0);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(hardmax, "Hardmax",
              [](const NodeView& n, Why* why) { return PrepareRows<HardmaxRow>(n, 0, why); })
