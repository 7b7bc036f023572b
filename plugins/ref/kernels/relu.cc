#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct ReluOp {
  static constexpr bool kExact = false;
  template <class W>
  W operator()(W x) const {
    return x < W(0) ? W(0) : x;  // NaN stays NaN
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(relu, "Relu", [](const NodeView& n, Why* why) {
  return PrepareUnary<Set::kSigned, ReluOp>(n, why);
})
