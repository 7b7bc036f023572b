#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct ErfOp {
  static constexpr bool kExact = true;
  template <class W>
  W operator()(W x) const {
    using std::erf;
    return erf(x);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(erf, "Erf",
              [](const NodeView& n, Why* why) { return PrepareUnary<Set::kFloat, ErfOp>(n, why); })
