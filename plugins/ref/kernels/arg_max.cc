#include "plugins/ref/kernels/arg_reduce.h"

namespace ref {
namespace {

struct ArgMaxOp {
  template <class W>
  static bool Before(W left, W right) {
    return left > right;
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(arg_max, "ArgMax",
              [](const NodeView& n, Why* why) { return PrepareArgReduce<ArgMaxOp>(n, why); })
