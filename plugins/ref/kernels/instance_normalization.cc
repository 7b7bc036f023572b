#include "plugins/ref/kernels/group_norm.h"

namespace ref {
namespace {

std::unique_ptr<Prepared> PrepareInstanceNormalization(const NodeView& n, Why* why) {
  return PrepareGroupNorm(n, 0, why);
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(instance_normalization, "InstanceNormalization", PrepareInstanceNormalization)
