#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct XorOp {
  static constexpr bool kMayFail = false, kPredicate = true;
  static constexpr const char* kFailure = "";
  template <class W>
  bool operator()(W x, W y) const {
    return (x != 0) != (y != 0);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(xor, "Xor", [](const NodeView& n, Why* why) {
  return PrepareBinary<Set::kBool, XorOp>(n, why);
})
