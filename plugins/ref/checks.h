// Checks shared by many kernels at Prepare: counts of inputs, equal types; also reads small integer
// tensors at run time. Pure; any thread.
#pragma once

#include "plugins/ref/kernel.h"
#include "plugins/ref/loop_nest.h"
#include "plugins/ref/scalar.h"

namespace ref {

// Whether the first n_required inputs and output 0 exist, and at most n_max inputs.
inline bool NeedPorts(const NodeView& n, uint32_t n_required, uint32_t n_max, Why* why) {
  if (n.n_in() > n_max) {
    return why->Say(GE_WHY_OP, "%u inputs, at most %u are defined", n.n_in(), n_max);
  }
  for (uint32_t i = 0; i < n_required; ++i) {
    if (!n.has_in(i)) return why->Say(GE_WHY_OP, "input %u is missing", i);
  }
  return n.has_out(0) || why->Say(GE_WHY_OP, "output 0 is omitted");
}

inline bool NoDType(const TensorType& type, Why* why) {
  return why->Say(GE_WHY_DTYPE, "%s is not computed here", ge::plugin::DTypeName(type.dtype));
}

inline bool NeedSameDType(const TensorType& left, const TensorType& right, Why* why) {
  return left.dtype == right.dtype ||
         why->Say(GE_WHY_DTYPE, "%s and %s where one type is wanted",
                  ge::plugin::DTypeName(left.dtype), ge::plugin::DTypeName(right.dtype));
}

inline bool NeedSameDims(const TensorType& left, const TensorType& right, Why* why) {
  return SameDims(left.shape(), right.shape()) ||
         why->Say(GE_WHY_SHAPE, "input and output differ in shape");
}

// Output 0 must have exactly these dims.
inline bool NeedOutDims(const NodeView& n, Ints want, Why* why) {
  return SameDims(n.out(0).shape(), want) ||
         why->Say(GE_WHY_SHAPE, "the stated output shape is not what the operator gives");
}

inline bool IsIndexDType(int32_t dtype) { return dtype == GE_I32 || dtype == GE_I64; }

// Element i of an int32 or int64 tensor, at any alignment.
inline int64_t IntAt(const Tensor& tensor, int64_t i) {
  return tensor.dtype == GE_I32 ? Load(tensor.as<int32_t>(), i) : Load(tensor.as<int64_t>(), i);
}

// Element i of a float tensor of any width, at any alignment.
inline double FloatAt(const Tensor& tensor, int64_t i) {
  switch (tensor.dtype) {
    case GE_F64:
      return Load(tensor.as<double>(), i);
    case GE_F16:
      return FloatOf(Load(tensor.as<Half>(), i));
    case GE_BF16:
      return FloatOf(Load(tensor.as<BFloat>(), i));
    default:
      return Load(tensor.as<float>(), i);
  }
}
inline bool IsFloatDType(int32_t dtype) {
  return dtype == GE_F32 || dtype == GE_F64 || dtype == GE_F16 || dtype == GE_BF16;
}

}  // namespace ref
