#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct SinOp {
  static constexpr bool kExact = true;
  template <class W>
  W operator()(W x) const {
    using std::sin;
    return sin(x);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(sin, "Sin",
              [](const NodeView& n, Why* why) { return PrepareUnary<Set::kFloat, SinOp>(n, why); })
