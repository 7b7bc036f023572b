#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct HardSigmoidOp {
  static constexpr bool kExact = true;
  double alpha = 0.2, beta = 0.5;
  template <class W>
  W operator()(W x) const {
    const W y = W(alpha) * x + W(beta);
    return y < W(0) ? W(0) : y > W(1) ? W(1) : y;
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(hard_sigmoid, "HardSigmoid", [](const NodeView& n, Why* why) {
  return PrepareUnary<Set::kFloat, HardSigmoidOp>(n, why, {n.Float("alpha"), n.Float("beta")});
})
