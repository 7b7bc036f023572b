#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct CeluOp {
  static constexpr bool kExact = true;
  double alpha = 1;
  template <class W>
  W operator()(W x) const {
    using std::expm1;
    if (x != x) return x;
    const W bent = W(alpha) * expm1(x / W(alpha));
    return (x > W(0) ? x : W(0)) + (bent < W(0) ? bent : W(0));
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(celu, "Celu", [](const NodeView& n, Why* why) {
  return PrepareUnary<Set::kFloat, CeluOp>(n, why, {n.Float("alpha")});
})
