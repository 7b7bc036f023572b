#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct SqrtOp {
  static constexpr bool kExact = false;
  template <class W>
  W operator()(W x) const {
    using std::sqrt;
    return sqrt(x);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(sqrt, "Sqrt",
              [](const NodeView& n, Why* why) { return PrepareUnary<Set::kFloat, SqrtOp>(n, why); })
