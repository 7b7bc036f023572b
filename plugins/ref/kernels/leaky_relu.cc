#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct LeakyReluOp {
  static constexpr bool kExact = true;
  double alpha = 0.01f;
  template <class W>
  W operator()(W x) const {
    return x < W(0) ? W(alpha) * x : x;
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(leaky_relu, "LeakyRelu", [](const NodeView& n, Why* why) {
  return PrepareUnary<Set::kFloat, LeakyReluOp>(n, why, {n.Float("alpha")});
})
