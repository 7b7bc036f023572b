#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

template <bool kLeft>
struct BitShiftOp {
  static constexpr bool kMayFail = false, kPredicate = false;
  static constexpr const char* kFailure = "";
  template <class W>
  W operator()(W x, W y) const {
    if (y >= W(std::numeric_limits<W>::digits)) return W(0);
    const uint64_t wide = x;
    return static_cast<W>(kLeft ? wide << y : wide >> y);
  }
};

std::unique_ptr<Prepared> PrepareBitShift(const NodeView& n, Why* why) {
  const std::string_view way = n.Text("direction");
  if (way == "LEFT") return PrepareBinary<Set::kUnsigned, BitShiftOp<true>>(n, why);
  if (way == "RIGHT") return PrepareBinary<Set::kUnsigned, BitShiftOp<false>>(n, why);
  return why->Say(GE_WHY_ATTRIBUTE, "direction is neither LEFT nor RIGHT"), nullptr;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(bit_shift, "BitShift", PrepareBitShift)
