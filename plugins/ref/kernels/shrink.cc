#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

// A whole bias keeps every digit of a 64-bit integer; another one is added in double.
constexpr double kWholeBias = 0x1p53;

struct ShrinkOp {
  static constexpr bool kExact = true;
  double bias = 0, lambd = 0.5;
  template <class W>
  W operator()(W x) const {
    const double v = static_cast<double>(x);
    return v < -lambd ? Moved(x, bias) : v > lambd ? Moved(x, -bias) : W(0);
  }

  template <class W>
  static W Moved(W x, double by) {
    if constexpr (std::is_integral_v<W>) {
      if (by == std::floor(by) && std::fabs(by) <= kWholeBias) {
        return static_cast<W>(Wrap(x) + static_cast<uint64_t>(static_cast<int64_t>(by)));
      }
      return IntOf<W>(static_cast<double>(x) + by);
    } else {
      return x + W(by);
    }
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(shrink, "Shrink", [](const NodeView& n, Why* why) {
  return PrepareUnary<Set::kNumber, ShrinkOp>(n, why, {n.Float("bias"), n.Float("lambd")});
})
