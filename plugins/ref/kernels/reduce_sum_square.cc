#include "plugins/ref/kernels/reduce.h"

namespace ref {
namespace {

struct ReduceSumSquareOp : Accumulated {
  template <class T>
  static Acc<T> Start() {
    return 0;
  }
  template <class T>
  static void Add(Acc<T>* acc, Arith<T> v) {
    *acc += static_cast<Acc<T>>(v) * static_cast<Acc<T>>(v);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(reduce_sum_square, "ReduceSumSquare",
              [](const NodeView& n, Why* why) { return PrepareReduce<ReduceSumSquareOp>(n, why); })
