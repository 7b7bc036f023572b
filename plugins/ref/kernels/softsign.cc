#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct SoftsignOp {
  static constexpr bool kExact = true;
  template <class W>
  W operator()(W x) const {
    using std::fabs;
    return x / (W(1) + fabs(x));
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(softsign, "Softsign", [](const NodeView& n, Why* why) {
  return PrepareUnary<Set::kFloat, SoftsignOp>(n, why);
})
