#include "plugins/ref/kernels/classify.h"

namespace ref {
namespace {

struct IsInfOp {
  bool negative = true, positive = true;
  template <class W>
  bool operator()(W x) const {
    constexpr W kInfinity = std::numeric_limits<W>::infinity();
    return (positive && x == kInfinity) || (negative && x == -kInfinity);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(is_inf, "IsInf", [](const NodeView& n, Why* why) {
  const IsInfOp op{n.Int("detect_negative") != 0, n.Int("detect_positive") != 0};
  return PrepareClassify<IsInfOp>(n, why, op);
})
