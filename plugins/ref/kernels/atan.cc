#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct AtanOp {
  static constexpr bool kExact = true;
  template <class W>
  W operator()(W x) const {
    using std::atan;
    return atan(x);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(atan, "Atan",
              [](const NodeView& n, Why* why) { return PrepareUnary<Set::kFloat, AtanOp>(n, why); })
