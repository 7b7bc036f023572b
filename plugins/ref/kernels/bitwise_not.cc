#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct BitwiseNotOp {
  static constexpr bool kExact = false;
  template <class W>
  W operator()(W x) const {
    return static_cast<W>(~x);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(bitwise_not, "BitwiseNot", [](const NodeView& n, Why* why) {
  return PrepareUnary<Set::kInt, BitwiseNotOp>(n, why);
})
