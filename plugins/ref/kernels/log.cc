#include "plugins/ref/kernels/elementwise.h"

namespace ref {
namespace {

struct LogOp {
  static constexpr bool kExact = true;
  template <class W>
  W operator()(W x) const {
    using std::log;
    return log(x);
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(log, "Log",
              [](const NodeView& n, Why* why) { return PrepareUnary<Set::kFloat, LogOp>(n, why); })
