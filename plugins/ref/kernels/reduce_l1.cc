#include "plugins/ref/kernels/reduce.h"

namespace ref {
namespace {

// Floats are summed in double, integers modulo 2^n.
struct ReduceL1Op {
  template <class T>
  using Acc = std::conditional_t<kIsFloat<T>, double, uint64_t>;
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
GE_REF_KERNEL(reduce_l1, "ReduceL1", 18,
              [](const NodeView& n, Why* why) { return PrepareReduce<ReduceL1Op>(n, why); })
