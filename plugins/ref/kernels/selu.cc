#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct SeluOp {
  static constexpr bool kExact = true;
  double alpha = 1.67326319217681884765625, gamma = 1.05070102214813232421875;
  template <class W>
  W operator()(W x) const {
    using std::expm1;
    return W(gamma) * (x > W(0) ? x : W(alpha) * expm1(x));
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(selu, "Selu", [](const NodeView& n, Why* why) {
  return PrepareUnary<Set::kFloat, SeluOp>(n, why, {n.Float("alpha"), n.Float("gamma")});
})
