#include "plugins/ref/kernels/reduce.h"

namespace ref {
namespace {

// Floats are summed in double, integers modulo 2^n.
struct ReduceSumSquareOp {
  template <class T>
  using Acc = std::conditional_t<kIsFloat<T>, double, uint64_t>;
  template <class T>
  static Acc<T> Start() {
    return 0;
  }
  template <class T>
  static void Add(Acc<T>* acc, Arith<T> v) {
    *acc += static_cast<Acc<T>>(v) * static_cast<Acc<T>>(v);
  }
  template <class T>
  static T Finish(Acc<T> acc, int64_t) {
    return Narrow<T>(acc);
  }
  template <class F>
  static bool Visit(int32_t dtype, F&& f) {
    return VisitFloat(dtype, f) || VisitWideInt(dtype, f);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(reduce_sum_square, "ReduceSumSquare", 18,
              [](const NodeView& n, Why* why) { return PrepareReduce<ReduceSumSquareOp>(n, why); })
