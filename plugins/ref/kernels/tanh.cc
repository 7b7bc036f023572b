#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct TanhOp {
  static constexpr bool kExact = true;
  template <class W>
  W operator()(W x) const {
    using std::tanh;
    return tanh(x);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(tanh, "Tanh",
              [](const NodeView& n, Why* why) { return PrepareUnary<Set::kFloat, TanhOp>(n, why); })
