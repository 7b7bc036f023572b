#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct ThresholdedReluOp {
  static constexpr bool kExact = true;
  double alpha = 1;
  template <class W>
  W operator()(W x) const {
    return x > W(alpha) ? x : W(0);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(thresholded_relu, "ThresholdedRelu", [](const NodeView& n, Why* why) {
  return PrepareUnary<Set::kFloat, ThresholdedReluOp>(n, why, {n.Float("alpha")});
})
