#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct ExpOp {
  static constexpr bool kExact = true;
  template <class W>
  W operator()(W x) const {
    using std::exp;
    return exp(x);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(exp, "Exp",
              [](const NodeView& n, Why* why) { return PrepareUnary<Set::kFloat, ExpOp>(n, why); })
