#include "plugins/ref/kernels/global_pool.h"

namespace ref {
namespace {

struct PlaneMean {
  template <class T>
  static T Of(const T* x, int64_t area) {
    double sum = 0;
    for (int64_t i = 0; i < area; ++i) sum += Widen(Load(x, i));
    return Narrow<T>(sum / static_cast<double>(area));
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(global_average_pool, "GlobalAveragePool", PrepareGlobalPool<PlaneMean>)
