#include "plugins/ref/kernels/cumulate.h"

namespace ref {
namespace {

struct CumProdOp {
  static constexpr int kStart = 1;
  template <class W>
  static W Step(W a, W v) {
    return a * v;
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(cum_prod, "CumProd",
              [](const NodeView& n, Why* why) { return PrepareCumulate<CumProdOp>(n, why); })
