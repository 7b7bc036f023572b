#include <string>

#include "plugins/ref/kernels/copy.h"

namespace ref {
namespace {

// The payload in the output's own format.
bool Payload(const NodeView& n, const TensorType& y, std::string* out, Why* why) {
  const ge_node& node = n.node();
  const auto append = [&](const auto& v) {
    out->append(reinterpret_cast<const char*>(&v), sizeof(v));
  };
  if (node.n_attr != 1) return why->Say(GE_WHY_ATTRIBUTE, "exactly one attribute is wanted");
  const ge_attr& a = node.attr[0];
  int32_t dtype = 0;
  if (a.kind == GE_ATTR_TENSOR) {
    dtype = a.tensor_type.dtype;
    if (a.tensor_bytes != 0) out->assign(static_cast<const char*>(a.tensor), a.tensor_bytes);
  } else if (a.kind == GE_ATTR_INT || a.kind == GE_ATTR_INTS) {
    dtype = GE_I64;
    if (a.kind == GE_ATTR_INT) append(a.i);
    for (uint32_t i = 0; a.kind == GE_ATTR_INTS && i < a.n; ++i) append(a.ints[i]);
  } else if (a.kind == GE_ATTR_FLOAT || a.kind == GE_ATTR_FLOATS) {
    dtype = GE_F32;
    if (a.kind == GE_ATTR_FLOAT) append(static_cast<float>(a.f));
    for (uint32_t i = 0; a.kind == GE_ATTR_FLOATS && i < a.n; ++i) {
      append(static_cast<float>(a.floats[i]));
    }
  } else {
    return why->Say(GE_WHY_ATTRIBUTE, "this kind of constant is not taken");
  }
  return (dtype == y.dtype && out->size() == y.bytes) ||
         why->Say(GE_WHY_ATTRIBUTE, "the constant does not have the output's type");
}

std::unique_ptr<Prepared> PrepareConstant(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 0, 0, why)) return nullptr;
  std::string payload;
  if (!Payload(n, n.out(0), &payload, why)) return nullptr;
  return Make([payload](const Call& c) {
    if (!payload.empty()) std::memcpy(c.out(0).data, payload.data(), payload.size());
    return static_cast<ge_rc>(GE_OK);
  });
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(constant, "Constant", PrepareConstant)
