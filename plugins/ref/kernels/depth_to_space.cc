#include "plugins/ref/kernels/blocks.h"

namespace ref {
namespace {

std::unique_ptr<Prepared> PrepareDepthToSpace(const NodeView& n, Why* why) {
  const std::string_view mode = n.Text("mode");
  if (mode != "DCR" && mode != "CRD") {
    return why->Say(GE_WHY_ATTRIBUTE, "mode is %.*s", static_cast<int>(mode.size()), mode.data()),
           nullptr;
  }
  return PrepareBlocks(n, mode == "DCR", true, why);
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(depth_to_space, "DepthToSpace", PrepareDepthToSpace)
