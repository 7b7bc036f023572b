#include "plugins/ref/kernels/reduce.h"

namespace ref {
namespace {

// Floats are summed in double; integers modulo 2^64, the quotient is truncated. The mean of
// nothing is NaN, for integers 0.
struct ReduceMeanOp : Accumulated {
  template <class T>
  static Acc<T> Start() {
    return 0;
  }
  template <class T>
  static void Add(Acc<T>* acc, Arith<T> v) {
    *acc += static_cast<Acc<T>>(v);
  }
  template <class T>
  static T Finish(Acc<T> acc, int64_t count) {
    if constexpr (kIsFloat<T>) {
      return Narrow<T>(acc / static_cast<double>(count));
    } else if constexpr (std::is_signed_v<T>) {
      return count == 0 ? T(0) : static_cast<T>(static_cast<int64_t>(acc) / count);
    } else {
      return count == 0 ? T(0) : static_cast<T>(acc / static_cast<uint64_t>(count));
    }
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(reduce_mean, "ReduceMean",
              [](const NodeView& n, Why* why) { return PrepareReduce<ReduceMeanOp>(n, why); })
