#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct AsinhOp {
  static constexpr bool kExact = true;
  template <class W>
  W operator()(W x) const {
    using std::asinh;
    return asinh(x);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(asinh, "Asinh", [](const NodeView& n, Why* why) {
  return PrepareUnary<Set::kFloat, AsinhOp>(n, why);
})
