#include "plugins/ref/kernels/reduce.h"

namespace ref {
namespace {

// In double for every type; an integer result is cut. The greatest element so far is taken off
// before the exponential, so that none overflows: the result is most + log(sum).
struct ReduceLogSumExpOp {
  struct Acc {
    double most, sum;
  };
  template <class T>
  static Acc Start() {
    return {-std::numeric_limits<double>::infinity(), 0};
  }
  template <class T>
  static void Add(Acc* acc, Arith<T> given) {
    const double v = static_cast<double>(given);
    if (v > acc->most) {
      acc->sum = acc->sum * std::exp(acc->most - v) + 1;
      acc->most = v;
    } else {
      // Two equal infinities have no difference.
      acc->sum += v == acc->most ? 1 : std::exp(v - acc->most);
    }
  }
  template <class T>
  static T Finish(const Acc& acc, int64_t) {
    return Narrow<T>(acc.most + std::log(acc.sum));
  }
  template <class F>
  static bool Visit(int32_t dtype, F&& call) {
    return VisitFloat(dtype, call) || VisitWideInt(dtype, call);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(reduce_log_sum_exp, "ReduceLogSumExp",
              [](const NodeView& n, Why* why) { return PrepareReduce<ReduceLogSumExpOp>(n, why); })
