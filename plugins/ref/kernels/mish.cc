#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct MishOp {
  static constexpr bool kExact = true;
  template <class W>
  W operator()(W x) const {
    using std::exp;
    using std::log1p;
    using std::tanh;
    // ln(1 + e^x) without an e^x that overflows.
    const W small = log1p(exp(x < W(0) ? x : -x));
    return x * tanh(x < W(0) ? small : x + small);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(mish, "Mish",
              [](const NodeView& n, Why* why) { return PrepareUnary<Set::kFloat, MishOp>(n, why); })
