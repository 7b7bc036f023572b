#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct AsinOp {
  static constexpr bool kExact = true;
  template <class W>
  W operator()(W x) const {
    using std::asin;
    return asin(x);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(asin, "Asin",
              [](const NodeView& n, Why* why) { return PrepareUnary<Set::kFloat, AsinOp>(n, why); })
