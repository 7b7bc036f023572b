#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct TanOp {
  static constexpr bool kExact = true;
  template <class W>
  W operator()(W x) const {
    using std::tan;
    return tan(x);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(tan, "Tan",
              [](const NodeView& n, Why* why) { return PrepareUnary<Set::kFloat, TanOp>(n, why); })
