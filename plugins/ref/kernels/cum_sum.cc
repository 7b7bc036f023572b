#include "plugins/ref/kernels/cumulate.h"

namespace ref {
namespace {

struct CumSumOp {
  static constexpr int kStart = 0;
  template <class W>
  static W Step(W a, W v) {
    return a + v;
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(cum_sum, "CumSum",
              [](const NodeView& n, Why* why) { return PrepareCumulate<CumSumOp>(n, why); })
