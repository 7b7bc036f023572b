#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

template <bool kLeft>
struct BitShiftOp {
  static constexpr bool kMayFail = false, kPredicate = false;
  static constexpr const char* kFailure = "";
  template <class W>
  W operator()(W x, W y) const {
    constexpr W kBits = 8 * sizeof(W);
    bool gone = y >= kBits, negative = false;
    if constexpr (std::is_signed_v<W>) {
      gone = gone || y < 0;
      negative = x < 0;
    }
    if (gone) return static_cast<W>(!kLeft && negative ? -1 : 0);
    if (kLeft) return static_cast<W>(static_cast<uint64_t>(x) << y);
    return static_cast<W>(x >> y);  // copies of the sign bit come in
  }
};

std::unique_ptr<Prepared> PrepareBitShift(const NodeView& n, Why* why) {
  const std::string_view way = n.Text("direction");
  if (way == "LEFT") return PrepareBinary<Set::kInt, BitShiftOp<true>>(n, why);
  if (way == "RIGHT") return PrepareBinary<Set::kInt, BitShiftOp<false>>(n, why);
  return why->Say(GE_WHY_ATTRIBUTE, "direction is neither LEFT nor RIGHT"), nullptr;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(bit_shift, "BitShift", PrepareBitShift)
