#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct DivOp {
  static constexpr bool kMayFail = true, kPredicate = false;
  static constexpr const char* kFailure =
      "an integer is divided by zero, wanted another; replace zeros, as by Where";
  template <class W>
  W operator()(W x, W y, bool* ok) const {
    if constexpr (std::is_integral_v<W>) {
      if (y == 0) {
        *ok = false;
        return 0;
      }
      // The least number has no positive counterpart; like + - *, division wraps.
      if constexpr (std::is_signed_v<W>) {
        if (y == W(-1)) return static_cast<W>(uint64_t{0} - static_cast<uint64_t>(x));
      }
    }
    return static_cast<W>(x / y);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(div, "Div", [](const NodeView& n, Why* why) {
  return PrepareBinary<Set::kNumber, DivOp>(n, why);
})
