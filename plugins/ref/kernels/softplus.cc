#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct SoftplusOp {
  static constexpr bool kExact = true;
  template <class W>
  W operator()(W x) const {
    using std::exp;
    using std::log1p;
    // Without an e^x that overflows.
    const W small = log1p(exp(x < W(0) ? x : -x));
    return x < W(0) ? small : x + small;
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(softplus, "Softplus", [](const NodeView& n, Why* why) {
  return PrepareUnary<Set::kFloat, SoftplusOp>(n, why);
})
