#include "plugins/ref/kernels/reduce.h"

namespace ref {
namespace {

struct ReduceL1Op : Accumulated {
  template <class T>
  static Acc<T> Start() {
    return 0;
  }
  template <class T>
  static void Add(Acc<T>* acc, Arith<T> v) {
    if constexpr (kIsFloat<T>) {
      *acc += std::fabs(static_cast<double>(v));
    } else {
      const auto bits = static_cast<uint64_t>(v);
      *acc += v < Arith<T>{0} ? uint64_t{0} - bits : bits;
    }
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(reduce_l1, "ReduceL1",
              [](const NodeView& n, Why* why) { return PrepareReduce<ReduceL1Op>(n, why); })
