#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct SinhOp {
  static constexpr bool kExact = true;
  template <class W>
  W operator()(W x) const {
    using std::sinh;
    return sinh(x);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(sinh, "Sinh",
              [](const NodeView& n, Why* why) { return PrepareUnary<Set::kFloat, SinhOp>(n, why); })
