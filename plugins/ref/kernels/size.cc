#include "plugins/ref/kernels/copy.h"

namespace ref {
namespace {

std::unique_ptr<Prepared> PrepareSize(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 1, why)) return nullptr;
  if (n.out(0).dtype != GE_I64) return NoDType(n.out(0), why), nullptr;
  if (n.out(0).count != 1) return why->Say(GE_WHY_SHAPE, "the output is no scalar"), nullptr;
  auto made = Make([](const Call& c) {
    *c.out(0).as<int64_t>() = c.in(0).count;
    return static_cast<ge_rc>(GE_OK);
  });
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(size, "Size", PrepareSize)
