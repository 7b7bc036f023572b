#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct AcosOp {
  static constexpr bool kExact = true;
  template <class W>
  W operator()(W x) const {
    using std::acos;
    return acos(x);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(acos, "Acos",
              [](const NodeView& n, Why* why) { return PrepareUnary<Set::kFloat, AcosOp>(n, why); })
