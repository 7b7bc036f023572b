#include "plugins/ref/kernels/copy.h"

namespace ref {
namespace {

std::unique_ptr<Prepared> PrepareConstantOfShape(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 1, why)) return nullptr;
  const TensorType y = n.out(0);
  const uint32_t bits = ge::plugin::ElementBits(y.dtype);
  const ge_attr* a = ge::plugin::FindAttr(n.node(), "value", GE_ATTR_TENSOR);
  int64_t size = bits < 8 ? 1 : bits / 8;
  char unit[16] = {};  // one element; of packed dtypes eight, which are `bits` bytes
  if (a == nullptr
          ? y.dtype != GE_F32
          : a->tensor_type.dtype != y.dtype || a->tensor_bytes != static_cast<uint64_t>(size)) {
    why->Say(GE_WHY_ATTRIBUTE, "value is not one element of the output's type");
    return nullptr;
  }
  if (a != nullptr) std::memcpy(unit, a->tensor, static_cast<size_t>(size));
  if (bits < 8) {
    const uint32_t v = GetBits(unit, 0, bits);
    for (uint32_t i = 0; i < 8; ++i) SetBits(unit, i, bits, v);
    size = bits;
  }
  struct Unit {
    char bytes[16];
  } kept;
  std::memcpy(kept.bytes, unit, sizeof(unit));
  auto made = Make([kept, size, bits](const Call& c) {
    const Tensor y = c.out(0);
    char* to = y.as<char>();
    for (uint64_t at = 0; at < y.bytes; at += static_cast<uint64_t>(size)) {
      const uint64_t left = y.bytes - at, each = static_cast<uint64_t>(size);
      std::memcpy(to + at, kept.bytes, left < each ? left : each);
    }
    // Spare bits of the last byte are zero.
    const uint64_t used = static_cast<uint64_t>(y.count) * bits % 8;
    if (used != 0) to[y.bytes - 1] = static_cast<char>(to[y.bytes - 1] & ((1 << used) - 1));
    return static_cast<ge_rc>(GE_OK);
  });
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(constant_of_shape, "ConstantOfShape", PrepareConstantOfShape)
