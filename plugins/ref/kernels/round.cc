#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct RoundOp {
  static constexpr bool kExact = false;
  template <class W>
  W operator()(W x) const {
    using std::nearbyint;
    return nearbyint(x);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(round, "Round", [](const NodeView& n, Why* why) {
  return PrepareUnary<Set::kFloat, RoundOp>(n, why);
})
