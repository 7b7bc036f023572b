#include "plugins/ref/kernels/reduce.h"

namespace ref {
namespace {

// The least element; nothing reduced gives the greatest value of the type; NaN wins.
struct ReduceMinOp {
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
  template <class T>
  static T Finish(Arith<T> acc, int64_t) {
    return Narrow<T>(acc);
  }
  template <class F>
  static bool Visit(int32_t dtype, F&& f) {
    switch (dtype) {
      case GE_BOOL:
        return f(Tag<bool>()), true;
      case GE_I8:
        return f(Tag<int8_t>()), true;
      case GE_U8:
        return f(Tag<uint8_t>()), true;
      default:
        return VisitFloat(dtype, f) || VisitWideInt(dtype, f);
    }
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(reduce_min, "ReduceMin", 18,
              [](const NodeView& n, Why* why) { return PrepareReduce<ReduceMinOp>(n, why); })
