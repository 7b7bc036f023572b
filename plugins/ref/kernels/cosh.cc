#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct CoshOp {
  static constexpr bool kExact = true;
  template <class W>
  W operator()(W x) const {
    using std::cosh;
    return cosh(x);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(cosh, "Cosh",
              [](const NodeView& n, Why* why) { return PrepareUnary<Set::kFloat, CoshOp>(n, why); })
