#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct CosOp {
  static constexpr bool kExact = true;
  template <class W>
  W operator()(W x) const {
    using std::cos;
    return cos(x);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(cos, "Cos",
              [](const NodeView& n, Why* why) { return PrepareUnary<Set::kFloat, CosOp>(n, why); })
