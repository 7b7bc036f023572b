#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct CeilOp {
  static constexpr bool kExact = false;
  template <class W>
  W operator()(W x) const {
    using std::ceil;
    return ceil(x);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(ceil, "Ceil",
              [](const NodeView& n, Why* why) { return PrepareUnary<Set::kFloat, CeilOp>(n, why); })
