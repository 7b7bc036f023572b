#include "plugins/ref/kernels/copy.h"

namespace ref {
namespace {

ge_rc RunDropout(const Call& c) {
  const bool training = c.has_in(2) && *c.in(2).as<char>() != 0;
  const double ratio = c.has_in(1) ? FloatAt(c.in(1), 0) : 0.5;
  if (training && ratio != 0) {
    return c.Fail(GE_UNIMPLEMENTED, "training_mode with ratio %g needs random numbers", ratio);
  }
  CopyAll(c.in(0), c.out(0));
  if (c.has_out(1)) std::memset(c.out(1).data, 1, c.out(1).bytes);
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareDropout(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 3, why) || !NeedSameDType(n.in(0), n.out(0), why) ||
      !NeedSameDims(n.in(0), n.out(0), why)) {
    return nullptr;
  }
  if (n.has_in(1) && (n.in(1).count != 1 || !IsFloatDType(n.in(1).dtype))) {
    return why->Say(GE_WHY_DTYPE, "ratio is not one float"), nullptr;
  }
  if (n.has_in(2) && (n.in(2).count != 1 || n.in(2).dtype != GE_BOOL)) {
    return why->Say(GE_WHY_DTYPE, "training_mode is not one bool"), nullptr;
  }
  if (n.has_out(1) && (n.out(1).dtype != GE_BOOL || n.out(1).count != n.in(0).count)) {
    return why->Say(GE_WHY_DTYPE, "mask is not bool, or has another size than data"), nullptr;
  }
  const char* mode = static_cast<const char*>(n.constant(2));
  if (mode != nullptr && *mode != 0) {
    Tensor ratio{n.has_in(1) ? n.in(1) : TensorType{}, const_cast<void*>(n.constant(1))};
    if (ratio.data == nullptr || FloatAt(ratio, 0) != 0) {
      return why->Say(GE_WHY_ATTRIBUTE, "training mode needs random numbers"), nullptr;
    }
  }
  auto made = Make(RunDropout);
  made->in_place = 1;
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(dropout, "Dropout", PrepareDropout)
