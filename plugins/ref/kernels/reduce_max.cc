#include "plugins/ref/kernels/reduce.h"

namespace ref {
namespace {

// The greatest element; nothing reduced gives the least value of the type; NaN wins.
struct ReduceMaxOp : Extreme {
  template <class T>
  static Arith<T> Start() {
    if constexpr (kIsFloat<T>) {
      return -std::numeric_limits<Arith<T>>::infinity();
    } else {
      return std::numeric_limits<T>::lowest();
    }
  }
  template <class T>
  static void Add(Arith<T>* acc, Arith<T> v) {
    if (v > *acc || v != v) *acc = v;
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(reduce_max, "ReduceMax",
              [](const NodeView& n, Why* why) { return PrepareReduce<ReduceMaxOp>(n, why); })
