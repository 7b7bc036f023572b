#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct NotOp {
  static constexpr bool kExact = false;
  template <class W>
  W operator()(W x) const {
    return x == W(0);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(not, "Not",
              [](const NodeView& n, Why* why) { return PrepareUnary<Set::kBool, NotOp>(n, why); })
