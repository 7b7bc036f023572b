#include "plugins/ref/kernels/copy.h"

namespace ref {
namespace {

std::unique_ptr<Prepared> PrepareBitCast(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 1, why) || !NeedSameDims(n.in(0), n.out(0), why)) return nullptr;
  const TensorType x = n.in(0), y = n.out(0);
  if (n.Int("to", y.dtype) != y.dtype) {
    return why->Say(GE_WHY_ATTRIBUTE, "to is not the output's dtype"), nullptr;
  }
  if (ge::plugin::ElementBits(x.dtype) != ge::plugin::ElementBits(y.dtype)) {
    why->Say(GE_WHY_DTYPE, "%s and %s differ in size", ge::plugin::DTypeName(x.dtype),
             ge::plugin::DTypeName(y.dtype));
    return nullptr;
  }
  auto made = Make([](const Call& c) {
    CopyAll(c.in(0), c.out(0));
    return static_cast<ge_rc>(GE_OK);
  });
  made->in_place = 1;
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(bit_cast, "BitCast", PrepareBitCast)
