#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct ReciprocalOp {
  static constexpr bool kExact = false;
  template <class W>
  W operator()(W x) const {
    return W(1) / x;
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(reciprocal, "Reciprocal", [](const NodeView& n, Why* why) {
  return PrepareUnary<Set::kFloat, ReciprocalOp>(n, why);
})
