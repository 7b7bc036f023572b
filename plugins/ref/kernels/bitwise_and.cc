#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct BitwiseAndOp {
  static constexpr bool kMayFail = false, kPredicate = false;
  static constexpr const char* kFailure = "";
  template <class W>
  W operator()(W x, W y) const {
    return static_cast<W>(x & y);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(bitwise_and, "BitwiseAnd", [](const NodeView& n, Why* why) {
  return PrepareBinary<Set::kInt, BitwiseAndOp>(n, why);
})
