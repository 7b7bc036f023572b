#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct SigmoidOp {
  static constexpr bool kExact = true;
  template <class W>
  W operator()(W x) const {
    // Of the two forms, the one whose exponential cannot overflow.
    using std::exp;
    if (x < W(0)) {
      const W e = exp(x);
      return e / (W(1) + e);
    }
    return W(1) / (W(1) + exp(-x));
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(sigmoid, "Sigmoid", [](const NodeView& n, Why* why) {
  return PrepareUnary<Set::kFloat, SigmoidOp>(n, why);
})
