#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct SignOp {
  static constexpr bool kExact = false;
  template <class W>
  W operator()(W x) const {
    if (x > W(0)) return W(1);
    if constexpr (std::is_unsigned_v<W>) {
      return W(0);
    } else {
      return x < W(0) ? W(-1) : x != x ? x : W(0);
    }
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(sign, "Sign", [](const NodeView& n, Why* why) {
  return PrepareUnary<Set::kNumber, SignOp>(n, why);
})
