#include "plugins/ref/kernels/reduce.h"

namespace ref {
namespace {

// In double for every type; an integer result is cut.
struct ReduceLogSumOp {
  template <class T>
  static double Start() {
    return 0;
  }
  template <class T>
  static void Add(double* acc, Arith<T> v) {
    *acc += static_cast<double>(v);
  }
  template <class T>
  static T Finish(double acc, int64_t) {
    return Narrow<T>(std::log(acc));
  }
  template <class F>
  static bool Visit(int32_t dtype, F&& call) {
    return VisitFloat(dtype, call) || VisitWideInt(dtype, call);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(reduce_log_sum, "ReduceLogSum",
              [](const NodeView& n, Why* why) { return PrepareReduce<ReduceLogSumOp>(n, why); })
