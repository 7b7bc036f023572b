#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

template <bool kTruncated>
struct ModOp {
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
      if constexpr (std::is_signed_v<W>) {
        if (y == W(-1)) return 0;  // the least number divided by it overflows
      }
      const W rest = static_cast<W>(x % y);
      const bool other_side = rest != 0 && (rest < W(0)) != (y < W(0));
      return !kTruncated && other_side ? static_cast<W>(rest + y) : rest;
    } else {
      const W rest = std::fmod(x, y);
      if (kTruncated) return rest;
      if (rest == 0) return std::copysign(rest, y);
      return (rest < 0) != (y < 0) ? rest + y : rest;  // NaN stays
    }
  }
};

std::unique_ptr<Prepared> PrepareMod(const NodeView& n, Why* why) {
  if (n.Int("fmod") != 0) return PrepareBinary<Set::kNumber, ModOp<true>>(n, why);
  return PrepareBinary<Set::kNumber, ModOp<false>>(n, why);
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(mod, "Mod", PrepareMod)
