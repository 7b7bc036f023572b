#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct NegOp {
  static constexpr bool kExact = false;
  template <class W>
  W operator()(W x) const {
    if constexpr (std::is_integral_v<W>) {
      return static_cast<W>(uint64_t{0} - static_cast<uint64_t>(x));  // the least number wraps
    } else {
      return -x;  // 0 becomes -0
    }
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(neg, "Neg",
              [](const NodeView& n, Why* why) { return PrepareUnary<Set::kSigned, NegOp>(n, why); })
