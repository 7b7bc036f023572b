#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct AtanhOp {
  static constexpr bool kExact = true;
  template <class W>
  W operator()(W x) const {
    using std::atanh;
    return atanh(x);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(atanh, "Atanh", [](const NodeView& n, Why* why) {
  return PrepareUnary<Set::kFloat, AtanhOp>(n, why);
})
