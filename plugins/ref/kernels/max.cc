#include "plugins/ref/kernels/variadic.h"

namespace ref {
namespace {

struct MaxOp {
  static constexpr bool kMayFail = false, kPredicate = false;
  template <class W>
  W operator()(W x, W y) const {
    return x != x ? x : y != y ? y : x < y ? y : x;  // NaN wins
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(max, "Max", [](const NodeView& n, Why* why) { return PrepareFold<MaxOp>(n, why); })
