#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct HardSwishOp {
  static constexpr bool kExact = true;
  template <class W>
  W operator()(W x) const {
    const W share = x / W(6) + W(0.5);
    return x * (share < W(0) ? W(0) : share > W(1) ? W(1) : share);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(hard_swish, "HardSwish", [](const NodeView& n, Why* why) {
  return PrepareUnary<Set::kFloat, HardSwishOp>(n, why);
})
