#include "plugins/ref/kernels/classify.h"

namespace ref {
namespace {

struct IsNaNOp {
  template <class W>
  bool operator()(W x) const {
    return x != x;
  }
};

}  // namespace
}  // namespace ref
GE_REF_KERNEL(is_nan, "IsNaN",
              [](const NodeView& n, Why* why) { return PrepareClassify<IsNaNOp>(n, why); })
