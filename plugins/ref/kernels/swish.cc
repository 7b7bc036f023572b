#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct SwishOp {
  static constexpr bool kExact = true;
  double alpha = 1;
  template <class W>
  W operator()(W x) const {
    using std::exp;
    return x / (W(1) + exp(W(-alpha) * x));
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(swish, "Swish", [](const NodeView& n, Why* why) {
  return PrepareUnary<Set::kFloat, SwishOp>(n, why, {n.Float("alpha")});
})
