#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct LessOp {
  static constexpr bool kMayFail = false, kPredicate = true;
  static constexpr const char* kFailure = "";
  template <class W>
  bool operator()(W x, W y) const {
    return x < y;
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(less, "Less", [](const NodeView& n, Why* why) {
  return PrepareBinary<Set::kNumber, LessOp>(n, why);
})
