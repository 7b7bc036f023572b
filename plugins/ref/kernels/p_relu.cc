#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct PReluOp {
  static constexpr bool kMayFail = false, kPredicate = false;
  static constexpr const char* kFailure = "";
  template <class W>
  W operator()(W x, W slope) const {
    return x < W(0) ? static_cast<W>(Wrap(x) * Wrap(slope)) : x;
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(p_relu, "PRelu", [](const NodeView& n, Why* why) -> std::unique_ptr<Prepared> {
  if (!NeedPorts(n, 2, 2, why) || !NeedSameDims(n.in(0), n.out(0), why)) {
    return nullptr;
  }
  return PrepareBinary<Set::kNumber, PReluOp>(n, why);
})
