#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct FloorOp {
  static constexpr bool kExact = false;
  template <class W>
  W operator()(W x) const {
    using std::floor;
    return floor(x);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(floor, "Floor", [](const NodeView& n, Why* why) {
  return PrepareUnary<Set::kFloat, FloorOp>(n, why);
})
