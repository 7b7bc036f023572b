#include "plugins/ref/kernels/global_pool.h"

namespace ref {
namespace {

struct PlaneMax {
  template <class T>
  static T Of(const T* x, int64_t area) {
    Arith<T> best = -std::numeric_limits<Arith<T>>::infinity();
    for (int64_t i = 0; i < area; ++i) {
      const Arith<T> v = Widen(Load(x, i));
      if (v > best || v != v) best = v;  // NaN wins: nothing is greater than it
    }
    return Narrow<T>(best);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(global_max_pool, "GlobalMaxPool", PrepareGlobalPool<PlaneMax>)
