#include "plugins/ref/kernels/reduce.h"

namespace ref {
namespace {

// The least element; nothing reduced gives the greatest value of the type; NaN wins.
struct ReduceMinOp : Extreme {
  template <class T>
  static Arith<T> Start() {
    if constexpr (kIsFloat<T>) {
      return std::numeric_limits<Arith<T>>::infinity();
    } else {
      return std::numeric_limits<T>::max();
    }
  }
  template <class T>
  static void Add(Arith<T>* acc, Arith<T> v) {
    if (v < *acc || v != v) *acc = v;
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(reduce_min, "ReduceMin",
              [](const NodeView& n, Why* why) { return PrepareReduce<ReduceMinOp>(n, why); })
