#include "plugins/ref/kernels/reduce.h"

namespace ref {
namespace {

// Floats are multiplied in double, integers modulo 2^n.
struct ReduceProdOp {
  template <class T>
  using Acc = std::conditional_t<kIsFloat<T>, double, uint64_t>;
  template <class T>
  static Acc<T> Start() {
    return 1;
  }
  template <class T>
  static void Add(Acc<T>* acc, Arith<T> v) {
    *acc *= static_cast<Acc<T>>(v);
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
GE_REF_KERNEL(reduce_prod, "ReduceProd", 18,
              [](const NodeView& n, Why* why) { return PrepareReduce<ReduceProdOp>(n, why); })
