// The vendor's tensor objects and two-phase operators as far as the engine uses them, by our own
// declarations; see acl.h. Objects belong to who made them; an executor is launched once, and gone
// then. Declarations alone.
#pragma once

#include "plugins/ascend/api/acl.h"

namespace ge_engines::ascend::acl {

using In = const Tensor*;
using Out = Tensor*;
using Tensors = const TensorList*;
using Number = const Scalar*;
using Ints = const IntArray*;

struct Objects {
  // Dims of the view, its strides and its first element, then the storage's format and dims.
  Tensor* (*aclCreateTensor)(const int64_t* dims, uint64_t rank, DataType type,
                             const int64_t* strides, int64_t offset, Format format,
                             const int64_t* storage_dims, uint64_t storage_rank,
                             void* data) = nullptr;
  Status (*aclDestroyTensor)(const Tensor*) = nullptr;
  Scalar* (*aclCreateScalar)(void* value, DataType type) = nullptr;
  Status (*aclDestroyScalar)(const Scalar*) = nullptr;
  IntArray* (*aclCreateIntArray)(const int64_t* values, uint64_t count) = nullptr;
  Status (*aclDestroyIntArray)(const IntArray*) = nullptr;
  TensorList* (*aclCreateTensorList)(const Tensor* const* tensors, uint64_t count) = nullptr;
  Status (*aclDestroyTensorList)(const TensorList*) = nullptr;  // and its tensors
  // Optional: of an executor that will not be launched.
  Status (*aclDestroyAclOpExecutor)(Executor*) = nullptr;
};

template <class First>
struct TwoPhase;
template <class... A>
struct TwoPhase<Status (*)(A...)> {
  const char* name;
  Status (*first)(A..., uint64_t* workspace, Executor** executor) = nullptr;
  Status (*second)(void* workspace, uint64_t bytes, Executor* executor, Stream stream) = nullptr;
};

// The operators by name; those that a library lacks are null.
struct Operators {
#define GE_ACLNN(name, parameters, names) TwoPhase<Status(*) parameters> name{#name};
#include "plugins/ascend/api/operators.def"
};

}  // namespace ge_engines::ascend::acl
