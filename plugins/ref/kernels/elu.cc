#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct EluOp {
  static constexpr bool kExact = true;
  double alpha = 1;
  template <class W>
  W operator()(W x) const {
    using std::expm1;
    return x < W(0) ? W(alpha) * expm1(x) : x;
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(elu, "Elu", [](const NodeView& n, Why* why) {
  return PrepareUnary<Set::kFloat, EluOp>(n, why, {n.Float("alpha")});
})
