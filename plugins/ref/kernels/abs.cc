#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct AbsOp {
  static constexpr bool kExact = false;
  template <class W>
  W operator()(W x) const {
    if constexpr (std::is_floating_point_v<W>) {
      return std::fabs(x);
    } else {
      return x < W(0) ? static_cast<W>(uint64_t{0} - static_cast<uint64_t>(x)) : x;
    }
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(abs, "Abs",
              [](const NodeView& n, Why* why) { return PrepareUnary<Set::kNumber, AbsOp>(n, why); })
