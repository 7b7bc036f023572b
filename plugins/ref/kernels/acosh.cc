#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct AcoshOp {
  static constexpr bool kExact = true;
  template <class W>
  W operator()(W x) const {
    using std::acosh;
    return acosh(x);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(acosh, "Acosh", [](const NodeView& n, Why* why) {
  return PrepareUnary<Set::kFloat, AcoshOp>(n, why);
})
