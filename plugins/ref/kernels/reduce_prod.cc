#include "plugins/ref/kernels/reduce.h"

namespace ref {
namespace {

struct ReduceProdOp : Accumulated {
  template <class T>
  static Acc<T> Start() {
    return 1;
  }
  template <class T>
  static void Add(Acc<T>* acc, Arith<T> v) {
    *acc *= static_cast<Acc<T>>(v);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(reduce_prod, "ReduceProd",
              [](const NodeView& n, Why* why) { return PrepareReduce<ReduceProdOp>(n, why); })
