#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct SubOp {
  static constexpr bool kMayFail = false, kPredicate = false;
  static constexpr const char* kFailure = "";
  template <class W>
  W operator()(W x, W y) const {
    return static_cast<W>(Wrap(x) - Wrap(y));
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(sub, "Sub", [](const NodeView& n, Why* why) {
  return PrepareBinary<Set::kNumber, SubOp>(n, why);
})
