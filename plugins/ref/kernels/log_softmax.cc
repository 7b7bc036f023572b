#include "plugins/ref/kernels/along.h"

namespace ref {
namespace {

// In double; the greatest element is taken off first, so that no exponential overflows.
struct LogSoftmaxRow {
  template <class T>
  static void Row(const T* x, T* y, int64_t n, int64_t step, int64_t) {
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t k = 0; k < n; ++k) most = std::fmax(most, Widen(x[k * step]));
    for (int64_t k = 0; k < n; ++k) sum += std::exp(Widen(x[k * step]) - most);
    const double log_sum = std::log(sum);
    for (int64_t k = 0; k < n; ++k) y[k * step] = Narrow<T>(Widen(x[k * step]) - most - log_sum);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(log_softmax, "LogSoftmax",
              [](const NodeView& n, Why* why) { return PrepareRows<LogSoftmaxRow>(n, 0, why); })
