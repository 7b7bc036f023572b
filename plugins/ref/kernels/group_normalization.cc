#include "plugins/ref/kernels/group_norm.h"

namespace ref {
namespace {

std::unique_ptr<Prepared> PrepareGroupNormalization(const NodeView& n, Why* why) {
  const int64_t groups = n.Int("num_groups");
  if (groups < 1) return why->Say(GE_WHY_ATTRIBUTE, "num_groups is not positive"), nullptr;
  return PrepareGroupNorm(n, groups, why);
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(group_normalization, "GroupNormalization", PrepareGroupNormalization)
